import CVector
import Patch
import Realtime

/// A steady pulse: ticks of the transport's notes at their exact frames, or of a rate of its own. Each tick is a gate that is
/// open for a part of it; swing delays every second one, so that ticks are long and short in turn.
struct Beat: BitwiseCopyable {
  /// Words of the parameter `note`, with their quarter notes; `free` goes by the rate.
  static let notes = [
    "free", "1/16", "1/1", "1/2", "1/4", "1/8", "1/32", "1/64", "2/1", "4/1", "1/2d", "1/4d", "1/8d", "1/16d",
    "1/2t",
    "1/4t", "1/8t", "1/16t", "1/32t",
  ]

  @inline(__always) @_noLocks private static func quarters(_ note: Float) -> Double {
    switch Int(note) {
    case 1: 0.25
    case 2: 4
    case 3: 2
    case 4: 1
    case 5: 0.5
    case 6: 0.125
    case 7: 0.0625
    case 8: 8
    case 9: 16
    case 10: 3
    case 11: 1.5
    case 12: 0.75
    case 13: 0.375
    case 14: 4.0 / 3
    case 15: 2.0 / 3
    case 16: 1.0 / 3
    case 17: 1.0 / 6
    default: 1.0 / 12
    }
  }

  /// Parameters of the kinds that have a beat.
  static let note = ParameterDescription(
    "note",
    "Length of a tick in the transport's notes (d: dotted, t: triplet); free: by `rate`, whether the transport moves or not.",
    form: .choice(notes), range: 0...Double(notes.count - 1), default: .text(notes[1]), smoothing: .kernel)
  static let rate = ParameterDescription.frequency(
    "rate", "Ticks a second, where `note` is free.", default: 4, range: 0...1000)
  static let swing = ParameterDescription.number(
    "swing", "Place of every second tick between its neighbours: 50 % is even, 66.7 % that of triplets.",
    default: 50, range: 50...75, unit: .percent)
  static let width = ParameterDescription.number(
    "width", "Part of a tick, as long as swing leaves it, for which its gate is open.", default: 50,
    range: 1...99, unit: .percent)

  /// Ticks and gate of one block.
  struct Pulse {
    /// Frames in which the gate is open, and those in which ticks begin.
    var open: UInt64 = 0
    var ticks: UInt64 = 0
    /// Frame in which the transport began or jumped.
    var starts: UInt64 = 0
    /// The transport stands.
    var isStopped = false
    /// Number of the first tick that begins in the block.
    var first: Int64 = 0
  }

  private enum Phase: UInt8, BitwiseCopyable { case waiting, open, shut }

  /// Choice of the parameter `note`.
  var note: Float
  private var phase = Phase.waiting
  private var wasRolling = false
  private var jumps: Int32 = 0
  /// Note of the ticks that are counted.
  private var counted: Float = -1
  /// Number of the present tick, or of the one that is waited for: since the start, or since bar 1.
  private var number: Int64 = 0
  /// Free: parts of the tick that are done, of `Course.parts`. Else unused.
  private var place = 0.0
  /// Where the gate opens and shuts, and where the tick ends: in such parts of a free tick, or in quarter notes.
  private var opensAt = 0.0
  private var shutsAt = 0.0
  private var endsAt = 0.0
  /// A rate at rest and the sample rate, and the parts of a tick that a frame has with them.
  private var known = SIMD2<Float>(repeating: .nan)
  private var knownStep = 0.0

  @_noLocks init(_ note: Float) { self.note = note }

  /// Settings in a block. Without a swing it is even, and without a width a gate is open for half of a tick.
  struct Settings {
    var rate: ParameterStream
    var swing: ParameterStream?
    var width: ParameterStream?
  }

  /// Goes through a block. Audio thread.
  @inline(__always) @_noLocks mutating func run(_ block: Block, _ settings: Settings) -> Pulse {
    guard note < 0.5 else { return runByTransport(block, settings) }
    return goOn(block, settings.rate) ?? runFree(block, settings)
  }

  /// Goes through a block at a rate that stays, in which nothing begins or ends. Most blocks are such; nil: this is none.
  @inline(__always) @_noLocks mutating func goOn(_ block: Block, _ rate: ParameterStream) -> Pulse? {
    guard rate.isSteady, counted == 0, known[0] == rate.value(0), known[1] == block.rate else { return nil }
    let goal = phase == .waiting ? 0 : phase == .open ? shutsAt : endsAt
    guard place + Double(block.frames &- 1) * knownStep < goal else { return nil }
    place += Double(block.frames) * knownStep
    wasRolling = false
    var pulse = Pulse()
    if phase == .open { pulse.open = Gates.all(block.frames) }
    return pulse
  }

  /// Delay of a tick by the swing, in parts of an even tick.
  @inline(__always) @_noLocks private func delay(
    _ number: Int64, _ settings: Settings, _ frame: Int
  ) -> Double {
    guard number & 1 != 0, let swing = settings.swing else { return 0 }
    return Double(limited(swing.value(0, at: frame), 50, 75)) * 0.02 - 1
  }

  @inline(__always) @_noLocks private func length(_ settings: Settings, _ frame: Int) -> Double {
    guard let width = settings.width else { return 0.5 }
    return Double(limited(width.value(0, at: frame), 1, 99)) * 0.01
  }

  @inline(never) @_noLocks private mutating func runFree(_ block: Block, _ settings: Settings) -> Pulse {
    var pulse = Pulse()
    if counted != 0 {
      (counted, phase, number, place) = (0, .waiting, 0, 0)
      pulse.starts = 1
    }
    wasRolling = false
    let moving = settings.rate.frames(0)
    var frame = 0
    while frame < block.frames {
      if phase != .waiting, place >= endsAt {
        place -= endsAt
        number &+= 1
        phase = .waiting
      }
      let rate = moving?[frame] ?? settings.rate.value(0)
      let step = whole(rate > 0 ? bounded(Double(rate) / Double(block.rate), 0, 0.5) * Course.parts : 0)
      if moving == nil { (known, knownStep) = (SIMD2(rate, block.rate), step) }
      // At a rate of zero no tick begins, not even the first.
      if phase == .waiting, step > 0 {
        phase = .open
        if pulse.ticks == 0 { pulse.first = number }
        pulse.ticks |= 1 &<< UInt64(truncatingIfNeeded: frame)
        // Two ticks together are as long as two even ones, wherever swing has the second one begin.
        endsAt =
          number & 1 == 0
          ? Course.parts + whole(delay(number &+ 1, settings, frame) * Course.parts)
          : 2 * Course.parts - endsAt
        // Shut for a frame before the next tick, else that would be none.
        shutsAt = length(settings, frame) * endsAt
        if shutsAt > endsAt - step { shutsAt = endsAt - step }
      } else if phase == .open, place >= shutsAt {
        phase = .shut
      }
      let goal = phase == .waiting ? 0 : phase == .open ? shutsAt : endsAt
      var count = 1
      if moving == nil {
        count = block.frames &- frame
        if step > 0 {
          let left = Int(bounded((goal - place) / step, 0, 64))
          let next = place + Double(left) * step < goal ? left &+ 1 : left
          if next < count { count = next > 1 ? next : 1 }
        }
      }
      if phase == .open { pulse.open |= Gates.span(frame, frame &+ count) }
      place += Double(count) * step
      frame &+= count
    }
    return pulse
  }

  /// Whole parts add up without an error.
  @inline(__always) @_noLocks private func whole(_ parts: Double) -> Double {
    parts + 6_755_399_441_055_744.0 - 6_755_399_441_055_744.0
  }

  @inline(__always) @_noLocks private func bounded(_ x: Double, _ low: Double, _ high: Double) -> Double {
    x > low ? (x < high ? x : high) : low
  }

  @inline(never) @_noLocks private mutating func runByTransport(_ block: Block, _ settings: Settings) -> Pulse
  {
    var pulse = Pulse()
    guard let transport = block.transport?.pointee, transport.isRolling else {
      (wasRolling, phase) = (false, .shut)
      pulse.isStopped = true
      return pulse
    }
    let quarters = Self.quarters(note)
    var frame = 0
    let now = transport.quarters(at: block.time)
    let hasBegun = !wasRolling || jumps != transport.jumps
    // A leader that has gone ahead leaves ticks out rather than to hurry them after.
    let isBehind = now >= (phase == .open ? endsAt : opensAt) + quarters
    if hasBegun || counted != note || isBehind {
      if hasBegun { pulse.starts = 1 }
      // A gate that is open here shuts for a frame, else a tick in this one would be none.
      if phase == .open { frame = 1 }
      (wasRolling, jumps, counted) = (true, transport.jumps, note)
      let place = now / quarters
      number = Int64(Transport.floor(place))
      if Double(number) + delay(number, settings, 0) < place - 1e-7 { number &+= 1 }
      opensAt = (Double(number) + delay(number, settings, 0)) * quarters
      phase = .waiting
    }
    while let next = due(transport, block, frame, pulse.ticks) {
      if phase == .open {
        pulse.open |= Gates.span(frame, next)
        number &+= 1
        (phase, opensAt) = (.waiting, endsAt)
      } else {
        phase = .open
        if pulse.ticks == 0 { pulse.first = number }
        pulse.ticks |= 1 &<< UInt64(truncatingIfNeeded: next)
        endsAt = (Double(number &+ 1) + delay(number &+ 1, settings, next)) * quarters
        shutsAt = opensAt + length(settings, next) * (endsAt - opensAt)
      }
      frame = next
    }
    if phase == .open { pulse.open |= Gates.span(frame, block.frames) }
    return pulse
  }

  /// The frame in which the gate opens or shuts next; nil: not in this block.
  @inline(__always) @_noLocks private func due(
    _ transport: Transport, _ block: Block, _ frame: Int, _ ticks: UInt64
  ) -> Int? {
    let now = block.time &+ Int64(frame)
    guard var due = transport.frame(ofQuarters: phase == .open ? shutsAt : opensAt, from: now) else {
      return nil
    }
    if phase == .open {
      // Shut for a frame before the next tick, else that would be none; and open for one.
      let next = transport.frame(ofQuarters: endsAt, from: now)
      if let next, next &- 1 < due { due = next &- 1 }
      let isNew = ticks &>> UInt64(truncatingIfNeeded: frame) & 1 != 0
      if due <= now { due = isNew ? now &+ 1 : now }
    }
    let next = due &- block.time
    return next < Int64(block.frames) ? Int(next) : nil
  }
}
