import Realtime

/// The worker's copy of the audio thread's ramp of a cable's gain. It tells when a fade is practically over although edits
/// keep restarting it. Worker.
final class GainMirror {
  /// A command that moves the gain.
  struct Move {
    var target: Float
    var frames: Int
    /// See `Ramp.pace`.
    var pace: Int
    /// Frames until it begins.
    var wait: Int
  }

  private var ramp: Ramp
  private var time: Int64 = 0
  /// Moves of transactions of which it is not known yet when they are executed.
  private var moves: [(transaction: Int, move: Move)] = []
  private var next: (start: Int64, move: Move)?
  /// False while a move has no time.
  var isExact: Bool { moves.isEmpty }

  /// A gain at rest.
  init(_ gain: Float) { ramp = Ramp(gain) }

  /// `Ramp.pace` at `time`, as far as the worker knows.
  func pace(at time: Int64) -> Int {
    advance(to: time)
    return ramp.pace
  }

  /// `Ramp.ceiling` at `time`.
  func ceiling(at time: Int64) -> Float {
    advance(to: time)
    return ramp.ceiling
  }

  /// Follows a command that takes effect at `time`.
  func follow(_ move: Move, at time: Int64) {
    advance(to: time)
    if move.wait == 0 {
      ramp.move(to: move.target, over: move.frames, pace: move.pace)
      next = nil
    } else {
      next = (CableSlot.start(after: move.wait, from: time), move)
    }
  }

  /// Follows a command as soon as it is known when its transaction is executed.
  func follow(_ move: Move, of transaction: Int) { moves.append((transaction, move)) }

  /// Takes note that a transaction was executed at `time`.
  func beginMoves(of transaction: Int, at time: Int64) {
    while let first = moves.first, first.transaction <= transaction {
      follow(first.move, at: time)
      moves.removeFirst()
    }
  }

  /// Stretches what is left of a move at `time` to the same seconds at another rate.
  func stretch(by factor: Double, at time: Int64) {
    advance(to: time)
    ramp.stretch(by: factor)
  }

  private func advance(to time: Int64) {
    if let next, next.start <= time {
      ramp.skip(Int(clamping: max(0, next.start - self.time)))
      self.time = next.start
      ramp.move(to: next.move.target, over: next.move.frames, pace: next.move.pace)
      self.next = nil
    }
    ramp.skip(Int(clamping: max(0, time - self.time)))
    self.time = max(self.time, time)
  }
}
