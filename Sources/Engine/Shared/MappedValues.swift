import Realtime

/// The values of a parameter, or the gain of a cable, that maps move, as the audio thread has them at present. A gain may
/// have switches, which maps move too: what is heard is then made of both (`Patch.GainSwitches`).
///
/// The worker makes it, and tells it of values that edits change (`Command.mapped`); maps change it on the audio thread.
struct MappedValues {
  /// Part of an element that moves.
  enum Field: UInt8, BitwiseCopyable { case value, mute, solo, invert }

  /// The node whose parameter it is; nil: the gain of a cable.
  let node: UnsafeMutablePointer<NodeSlot>?
  let cable: UnsafeMutablePointer<CableSlot>?
  /// Position of the parameter.
  let parameter: Int32
  /// The kernel smooths it.
  let isKernels: Bool
  /// One value for all elements of the parameter.
  let isShared: Bool
  let count: Int
  /// Values in the engine's units, without switches.
  private let values: UnsafeMutablePointer<Float>
  /// Switches that are on, a bit for each field.
  private let switches: UnsafeMutablePointer<UInt8>
  /// Number of elements with the switch `solo`.
  private var soloed = 0

  /// The gain of a cable that adds to an element: it is heard as the element's switches say.
  struct Follower: BitwiseCopyable {
    let element: Int32
    /// Values of one gain.
    let gain: UnsafeMutablePointer<MappedValues>
  }

  /// The worker owns the list. Audio thread.
  var followers = UnsafeMutableBufferPointer<Follower>(start: nil, count: 0)

  /// Worker.
  init(
    node: UnsafeMutablePointer<NodeSlot>?, cable: UnsafeMutablePointer<CableSlot>?, parameter: Int,
    isKernels: Bool, isShared: Bool, values initial: [Float], switches on: [UInt8]
  ) {
    self.node = node
    self.cable = cable
    self.parameter = Int32(parameter)
    self.isKernels = isKernels
    self.isShared = isShared
    count = initial.count
    values = .allocate(capacity: max(count, 1))
    switches = .allocate(capacity: max(count, 1))
    for index in initial.indices {
      (values + index).initialize(to: initial[index])
      (switches + index).initialize(to: on[index])
      if on[index] & Self.bit(.solo) != 0 { soloed += 1 }
    }
  }

  /// Worker, when no table of maps points at it any more.
  func deallocate() {
    values.deallocate()
    switches.deallocate()
  }

  @_noLocks static func bit(_ field: Field) -> UInt8 { 1 &<< field.rawValue }

  /// A value in the engine's unit, or a switch as 0 or 1. Audio thread.
  @_noLocks func value(_ element: Int, _ field: Field) -> Float {
    if case .value = field { return values[element] }
    return switches[element] & Self.bit(field) != 0 ? 1 : 0
  }

  /// Value of an element as it is heard. Audio thread.
  @_noLocks func heard(_ element: Int) -> Float {
    let on = effect(element)
    if on & Self.bit(.mute) != 0 { return 0 }
    return on & Self.bit(.invert) != 0 ? 0 - values[element] : values[element]
  }

  /// Effect of all switches on an element: the bit of `mute` where it is silent, otherwise its bit of `invert`. Audio thread.
  @_noLocks func effect(_ element: Int) -> UInt8 {
    let on = switches[element]
    if on & Self.bit(.mute) != 0 || soloed > 0 && on & Self.bit(.solo) == 0 { return Self.bit(.mute) }
    return on & Self.bit(.invert)
  }

  /// Lets a follower's gain have the effect of its element's switches. Returns true when that is another one. Audio thread.
  @_noLocks func switchFollower(_ follower: Follower) -> Bool {
    let effect = effect(Int(follower.element))
    guard follower.gain.pointee.switches[0] != effect else { return false }
    follower.gain.pointee.setSwitches(0, to: effect)
    return true
  }

  /// Sets a value or a switch; what is heard of other elements changes by `solo`. Audio thread.
  @_noLocks mutating func set(_ element: Int, _ field: Field, to value: Float) {
    if case .value = field {
      values[element] = value
      return
    }
    let bit = Self.bit(field)
    setSwitches(element, to: value >= 0.5 ? switches[element] | bit : switches[element] & ~bit)
  }

  /// Audio thread.
  @_noLocks mutating func setSwitches(_ element: Int, to on: UInt8) {
    let solo = Self.bit(.solo)
    soloed &+= (on & solo != 0 ? 1 : 0) &- (switches[element] & solo != 0 ? 1 : 0)
    switches[element] = on
  }
}
