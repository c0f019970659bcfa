import Realtime
import Synchronization

/// A map on the audio thread: which events move it, and where they lead. It stays at one address as long as neither its
/// line nor what it joins changes.
struct MapSlot: ~Copyable {
  /// Events that it goes by; see `Patch.MapSource.Sender`.
  enum Sender: UInt8, BitwiseCopyable {
    case controller, fine, nrpn, rpn, note, bend, pressure, keyPressure
  }

  /// Meaning of numbers; see `Patch.MapCourse.Mode`.
  enum Mode: UInt8, BitwiseCopyable { case absolute, toggle, relative, offset, sign }

  /// Movement of a map, for the worker.
  struct Movement: BitwiseCopyable {
    /// Number of the map.
    var map: Int32
    var position: Int32
    /// Engine frame from which it is heard.
    var time: Int64
    /// Transactions that were executed before.
    var executed: Int
  }

  let number: Int32
  let source: UnsafeMutablePointer<NodeSlot>
  private let sender: Sender
  /// Controller, parameter or key; the fine half of a controller.
  private let first, second: Int
  /// 0...15; -1: every channel.
  private let channel: Int
  private let mode: Mode
  /// It waits until the controller passes the value.
  private let waits: Bool
  let values: UnsafeMutablePointer<MappedValues>
  let element: Int
  let field: MappedValues.Field
  /// The value at each position, in the engine's units.
  private let scale: UnsafeMutablePointer<Float>
  private let most: Int
  /// By channel: the number selected by controllers 98 to 101, and the position so far of its fourteen bits.
  private let selected, halves: UnsafeMutablePointer<Int32>

  /// Position that it leads to at the end of the cell; -1: none.
  private(set) var due = -1
  /// The controller's last position; -1: not known.
  private var last = -1
  /// The value that it set last.
  private var own = Float.nan
  private var isPressed = false
  /// `last`, read by the worker.
  let place = Atomic<Int32>(-1)

  private static var none: Int32 { @_noLocks get { -1 } }
  /// Bit that tells a selected RPN from an NRPN.
  private static var registered: Int32 { @_noLocks get { 1 &<< 14 } }

  /// `scale` has `most` + 1 values. Worker.
  init(
    number: Int32, source: UnsafeMutablePointer<NodeSlot>, sender: Sender, first: Int, second: Int,
    channel: Int?, mode: Mode, waits: Bool, values: UnsafeMutablePointer<MappedValues>, element: Int,
    field: MappedValues.Field, scale initial: [Float]
  ) {
    self.number = number
    self.source = source
    self.sender = sender
    self.first = first
    self.second = second
    self.channel = channel.map { $0 - 1 } ?? -1
    self.mode = mode
    self.waits = waits
    self.values = values
    self.element = element
    self.field = field
    scale = .allocate(capacity: initial.count)
    scale.initialize(from: initial, count: initial.count)
    most = initial.count - 1
    selected = .allocate(capacity: 16)
    selected.initialize(repeating: Self.none, count: 16)
    halves = .allocate(capacity: 16)
    halves.initialize(repeating: 0, count: 16)
  }

  /// Worker, when no table points at it any more.
  func deallocate() {
    scale.deallocate()
    selected.deallocate()
    halves.deallocate()
  }

  // MARK: Events. Audio thread.

  /// Takes an event of its source into account.
  @_noLocks mutating func hear(_ event: Event) {
    let number = Int(event.channel & 15)
    guard channel < 0 || channel == number else { return }
    switch sender {
    case .note:
      guard Int(event.key) == first else { return }
      if case .noteOn = event.kind { press(true) } else if case .noteOff = event.kind { press(false) }
    case .bend:
      guard case .bend = event.kind else { return }
      take(PitchWheel.position(event.value))
    case .pressure:
      if case .pressure = event.kind { take(seven(event.value)) }
    case .keyPressure:
      if case .keyPressure = event.kind, Int(event.key) == first { take(seven(event.value)) }
    case .controller, .fine, .nrpn, .rpn:
      if case .control = event.kind { hear(Int(event.key), seven(event.value), channel: number) }
    }
  }

  @_noLocks private mutating func hear(_ key: Int, _ value: Int, channel: Int) {
    switch sender {
    case .controller:
      if key == first { take(value) }
    case .fine:
      if key == first {
        halves[channel] = Int32(truncatingIfNeeded: value &<< 7)
      } else if key == second {
        halves[channel] = halves[channel] & ~127 | Int32(truncatingIfNeeded: value)
      } else {
        return
      }
      take(Int(halves[channel]))
    default: hearParameter(key, value, channel: channel)
    }
  }

  /// Controllers that select a parameter of the device, and those that set it.
  @_noLocks private mutating func hearParameter(_ key: Int, _ value: Int, channel: Int) {
    let seven = Int32(truncatingIfNeeded: value)
    let before = selected[channel] < 0 ? 0 : selected[channel]
    switch key {
    case 98: selected[channel] = before & 0x3F80 | seven
    case 99: selected[channel] = before & 0x7F | seven &<< 7
    case 100: selected[channel] = before & 0x3F80 | seven | Self.registered
    case 101: selected[channel] = before & 0x7F | seven &<< 7 | Self.registered
    case 6, 38, 96, 97:
      var wanted = Int32(truncatingIfNeeded: first)
      if case .rpn = sender { wanted |= Self.registered }
      guard selected[channel] == wanted else { return }
      enter(key, seven, channel: channel)
    default: break
    }
  }

  @_noLocks private mutating func enter(_ key: Int, _ value: Int32, channel: Int) {
    var position = halves[channel]
    switch key {
    case 6: position = value &<< 7
    case 38: position = position & ~127 | value
    case 96: position = position < 16383 ? position &+ 1 : position
    default: position = position > 0 ? position &- 1 : 0
    }
    halves[channel] = position
    switch mode {
    case .relative, .offset, .sign:
      // Steps are in the coarse half.
      if key == 6 { take(Int(value)) }
    default: take(Int(position))
    }
  }

  @_noLocks private func seven(_ value: Float) -> Int {
    value > 0 ? (value < 127 ? Int(value + 0.5) : 127) : 0
  }

  @_noLocks private mutating func press(_ isDown: Bool) {
    switch mode {
    case .toggle: if isDown { flip() }
    default: take(isDown ? most : 0)
    }
  }

  // MARK: Positions. Audio thread.

  /// Takes a number of the controller.
  @_noLocks private mutating func take(_ number: Int) {
    switch mode {
    case .absolute: move(to: number < most ? number : most)
    case .toggle:
      let isDown = number &* 2 > most
      if isDown, !isPressed { flip() }
      isPressed = isDown
    case .relative: step(number < 64 ? number : number &- 128)
    case .offset: step(number &- 64)
    case .sign: step(number & 64 != 0 ? 0 &- (number & 63) : number)
    }
  }

  /// The value that it has at the end of the cell.
  @_noLocks private func present() -> Float {
    due >= 0 ? scale[due] : values.pointee.value(element, field)
  }

  @_noLocks private mutating func move(to position: Int) {
    let value = present()
    let follows = !waits || value == own || meets(withinRange(value), position)
    last = position
    place.store(Int32(truncatingIfNeeded: position), ordering: .relaxed)
    guard follows else { return }
    due = position
    own = scale[position]
  }

  /// The nearest value that the controller can come to.
  @_noLocks private func withinRange(_ value: Float) -> Float {
    let rises = scale[0] <= scale[most]
    let low = scale[rises ? 0 : most]
    let high = scale[rises ? most : 0]
    return value < low ? low : value > high ? high : value
  }

  /// True when a controller that comes to `position` has passed the value, or stands within 1/128 of its way beside it.
  @_noLocks private func meets(_ value: Float, _ position: Int) -> Bool {
    let near = (most &+ 1) / 128
    let below = position > near ? position &- near : 0
    let above = position < most &- near ? position &+ near : most
    return lies(value, between: scale[below], scale[above])
      || last >= 0 && lies(value, between: scale[last], scale[position])
  }

  @_noLocks private func lies(_ value: Float, between one: Float, _ other: Float) -> Bool {
    one <= value && value <= other || other <= value && value <= one
  }

  /// Goes to the other end of the range.
  @_noLocks private mutating func flip() {
    let value = present()
    set((value - scale[0]).magnitude <= (value - scale[most]).magnitude ? most : 0)
  }

  @_noLocks private mutating func step(_ steps: Int) {
    let value = present()
    let from = last >= 0 && scale[last] == value ? last : nearest(to: value)
    let to = from &+ steps
    set(to < 0 ? 0 : to > most ? most : to)
  }

  @_noLocks private mutating func set(_ position: Int) {
    last = position
    due = position
    own = scale[position]
    place.store(Int32(truncatingIfNeeded: position), ordering: .relaxed)
  }

  /// Position of the nearest value; they go one way only.
  @_noLocks private func nearest(to value: Float) -> Int {
    let rises = scale[0] <= scale[most]
    var low = 0
    var high = most
    while low < high {
      let middle = (low &+ high) / 2
      if rises ? scale[middle] < value : scale[middle] > value { low = middle &+ 1 } else { high = middle }
    }
    guard low > 0 else { return low }
    return (scale[low &- 1] - value).magnitude < (scale[low] - value).magnitude ? low &- 1 : low
  }

  /// The position to which it leads, and its value, once; nil: it has not moved.
  @_noLocks mutating func takeDue() -> (position: Int, value: Float)? {
    guard due >= 0 else { return nil }
    defer { due = -1 }
    return (due, scale[due])
  }
}

/// All maps of a patch. Made by the worker, and used by the audio thread until the next table is there.
struct MapTable {
  let maps: UnsafeMutablePointer<UnsafeMutablePointer<MapSlot>>
  let count: Int
  /// Frames of a movement.
  let fade: Int32
  /// Nodes all of whose events the worker wants to know: a controller is about to be chosen.
  let ears: UnsafeMutablePointer<UnsafeMutablePointer<NodeSlot>>
  let earCount: Int

  /// An event that an ear has heard.
  struct Heard: BitwiseCopyable {
    /// Number of the node.
    var node: Int32
    var event: Event
  }

  /// Worker.
  init(
    _ slots: [UnsafeMutablePointer<MapSlot>], fade: Int, ears nodes: [UnsafeMutablePointer<NodeSlot>]
  ) {
    maps = .allocate(capacity: max(slots.count, 1))
    maps.initialize(from: slots, count: slots.count)
    count = slots.count
    self.fade = Int32(clamping: fade)
    ears = .allocate(capacity: max(nodes.count, 1))
    ears.initialize(from: nodes, count: nodes.count)
    earCount = nodes.count
  }

  /// Worker, when another table has taken its place.
  func deallocate() {
    maps.deallocate()
    ears.deallocate()
  }

  /// Takes the events of the block into account that has just been rendered. Audio thread.
  @_noLocks func hear() {
    var index = 0
    while index < count {
      let map = maps[index]
      index &+= 1
      guard let queue = map.pointee.source.pointee.eventOutput else { continue }
      var event = 0
      while event < queue.pointee.count {
        map.pointee.hear(queue.pointee[event])
        event &+= 1
      }
    }
  }

  /// Hands what the ears hear to the worker. Audio thread.
  @_noLocks func listen(_ ring: Ring) {
    var index = 0
    while index < earCount {
      let node = ears[index]
      index &+= 1
      guard let queue = node.pointee.eventOutput else { continue }
      var event = 0
      while event < queue.pointee.count {
        var heard = Heard(node: node.pointee.number, event: queue.pointee[event])
        // A movement that does not fit is no loss: the controller goes on moving.
        _ = ring.push(&heard)
        event &+= 1
      }
    }
  }
}
