import Glibc
import Realtime

/// Effect of an edit on the sound sent to the driver.
public struct EditEntry: Sendable, Hashable, Identifiable {
  /// Serial number, from 0.
  public var id: Int
  /// The edit, as a line of the language.
  public var line: String
  /// Engine time at which it took effect, frames.
  public var time: Int64
  /// Seconds from there to the end of its last fade.
  public var fade: Double
  /// Linear: the excess of the largest sample-to-sample difference over that of the steady signal.
  public var step: Float
  /// Linear: the excess of the peak above 5 kHz over that of the steady signal.
  public var residue: Float
  /// False when no driver channel was measured during the fade; both figures are then zero.
  public var isMeasured: Bool

  /// `step` in dBFS; -infinity for none.
  public var stepLevel: Double { Self.decibels(step) }
  /// `residue` in dBFS; -infinity for none.
  public var residueLevel: Double { Self.decibels(residue) }

  private static func decibels(_ value: Float) -> Double {
    value > 0 ? 20 * log10(Double(value)) : -.infinity
  }
}

/// Attributes measurements to the edits under way. Worker.
///
/// An edit's window begins with the cell in which it took effect. It ends after its last fade, the filter's
/// tail and the plan without the removed nodes. The steady signal is the larger of two measurements: the
/// tenth of a second before the edit (while no other edit was under way) and the twentieth of a second after
/// it. So an edit that brings a brighter sound is not blamed for it. An excess while several edits are under
/// way is attributed to each of them.
struct EditLog {
  static let capacity = 20_000

  struct Figures {
    var step: Float = 0
    var residue: Float = 0

    mutating func include(_ cell: OutputWatch.Cell) {
      step = max(step, cell.step)
      residue = max(residue, cell.residue)
    }
  }

  /// An edit whose figures are incomplete.
  private struct OpenEdit {
    var line: String
    var time: Int64
    var fadeEnd: Int64
    /// First frame after its window.
    var end: Int64
    var isMeasured: Bool
    /// Figures by driver channel; nil before the first cell of the window was read.
    var before: [Int32: Figures]?
    var during: [Int32: Figures] = [:]
    var after: [Int32: Figures] = [:]
    /// The plan without the removed nodes runs.
    var isReplanned = false

    func isInWindow(_ time: Int64) -> Bool { time >= self.time & ~63 && time < end }
  }

  private var entries: [EditEntry] = []
  private var nextID = 0
  private var open: [OpenEdit] = []
  /// Steady cells of each channel.
  private var steady: [Int32: [OutputWatch.Cell]] = [:]
  /// Time span with edits under way.
  private var busy: Range<Int64> = 0..<0
  private var tail: Int64 = 0
  private var rate = 0.0

  private var steadyFrames: Int64 { Int64(rate / 10) }
  private var afterFrames: Int64 { Int64(rate / 20) }
  private var longestWait: Int64 { Int64(rate / 4) }

  init(rate: Double) { setRate(rate) }

  /// Changes the rate. OpenEdit windows are completed, since their times no longer mean anything.
  mutating func setRate(_ rate: Double) {
    self.rate = rate
    tail = Int64((Double(HighPass.tail) * rate / 48000).rounded(.up)) + 64
    while !open.isEmpty { complete(0) }
    steady = [:]
    busy = 0..<0
  }

  /// Opens a window for an edit that took effect at `time` and whose last fade ends `frames` later.
  mutating func begin(_ line: String, at time: Int64, frames: Int, isMeasured: Bool) {
    markReplanned(at: time)
    let fadeEnd = time + Int64(frames)
    open.append(
      OpenEdit(line: line, time: time, fadeEnd: fadeEnd, end: fadeEnd + tail, isMeasured: isMeasured))
    extendBusy(from: time, to: fadeEnd + tail)
  }

  /// Notes that a plan without the removed nodes took over at `time`.
  mutating func replan(at time: Int64) {
    for index in open.indices where !open[index].isReplanned && open[index].fadeEnd <= time {
      open[index].end = max(open[index].end, time + tail)
    }
    markReplanned(at: time)
    extendBusy(from: time, to: time + tail)
  }

  private mutating func markReplanned(at time: Int64) {
    for index in open.indices where open[index].fadeEnd <= time { open[index].isReplanned = true }
  }

  private mutating func extendBusy(from time: Int64, to end: Int64) {
    let start = time & ~63
    busy = start > busy.upperBound ? start..<end : busy.lowerBound..<max(busy.upperBound, end)
  }

  /// Adds a cell. Cells come in time order, each after the edits that were executed before its end.
  mutating func add(_ cell: OutputWatch.Cell) {
    captureSteadyFigures(at: cell.time)
    var isUnderWay = false
    for index in open.indices {
      if open[index].isInWindow(cell.time) {
        open[index].during[cell.channel, default: Figures()].include(cell)
        isUnderWay = true
      }
    }
    guard !isUnderWay, !busy.contains(cell.time) else { return }
    for index in open.indices where open[index].end <= cell.time {
      open[index].after[cell.channel, default: Figures()].include(cell)
    }
    steady[cell.channel, default: []].append(cell)
    let most = Int(steadyFrames) / blockCapacity + 1
    if let count = steady[cell.channel]?.count, count > 2 * most {
      steady[cell.channel]?.removeFirst(count - most)
    }
  }

  /// Keeps the steady figures for edits whose window begins at `time` or earlier.
  private mutating func captureSteadyFigures(at time: Int64) {
    for index in open.indices where open[index].before == nil && open[index].time & ~63 <= time {
      let isFollowing = busy.contains(open[index].time)
      let start = min(open[index].time & ~63, isFollowing ? busy.lowerBound : .max)
      let window = (start - steadyFrames)..<start
      open[index].before = steady.mapValues { cells in
        cells.reduce(into: Figures()) { if window.contains($1.time) { $0.include($1) } }
      }
    }
  }

  /// Returns the edits that are complete, once all cells before `now` are added. `isSettled`: no fade is
  /// under way and nothing waits to leave.
  mutating func advance(to now: Int64, isSettled: Bool) -> [EditEntry] {
    captureSteadyFigures(at: now)
    let first = nextID
    var index = 0
    while index < open.count {
      let edit = open[index]
      let quiet = now - max(edit.end, busy.upperBound)
      let isDone = quiet >= afterFrames && (edit.isReplanned || isSettled)
      if isDone || now >= edit.end + longestWait { complete(index) } else { index += 1 }
    }
    return Array(entries.suffix(nextID - first))
  }

  /// Closes all windows: no more measurements will come.
  mutating func closeAll() -> [EditEntry] {
    let first = nextID
    captureSteadyFigures(at: .max)
    while !open.isEmpty { complete(0) }
    return Array(entries.suffix(nextID - first))
  }

  private mutating func complete(_ index: Int) {
    let edit = open.remove(at: index)
    var worst = Figures()
    for (channel, during) in edit.during {
      let (before, after) = (edit.before?[channel] ?? Figures(), edit.after[channel] ?? Figures())
      worst.step = max(worst.step, during.step - max(before.step, after.step))
      worst.residue = max(worst.residue, during.residue - max(before.residue, after.residue))
    }
    entries.append(
      EditEntry(
        id: nextID, line: edit.line, time: edit.time, fade: Double(edit.fadeEnd - edit.time) / rate,
        step: worst.step, residue: worst.residue, isMeasured: edit.isMeasured))
    nextID += 1
    if entries.count > 2 * Self.capacity { entries.removeFirst(Self.capacity) }
  }

  func entries(since id: Int) -> [EditEntry] {
    guard let first = entries.first?.id else { return [] }
    return Array(entries.dropFirst(max(0, id - first)))
  }
}
