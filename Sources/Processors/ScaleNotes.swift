import Patch
import Realtime

/// Brings notes to the nearest keys of a scale.
public struct ScaleNotes: Kernel {
  public static let description = KindDescription(
    name: "scale", summary: "Brings notes to the nearest keys of a scale.", category: .control,
    inputs: [PortDescription("in", .events)],
    outputs: [PortDescription("out", .events, "The notes; all else passes as it is.")],
    parameters: [
      Degrees.scale, Degrees.root,
      .number(
        "transpose", "Keys by which notes are higher afterwards.", default: 0, range: -127...127,
        unit: .semitones),
      ParameterDescription(
        "others", "Notes that are not in the scale go to the nearest key, or are left out.",
        form: .choice(["nearest", "off"]), range: 0...1, default: .text("nearest"), smoothing: .kernel),
    ], cost: .init(12))

  /// Positions in `description.parameters`.
  public static var scale: Int { @_noLocks get { 0 } }
  public static var root: Int { @_noLocks get { 1 } }
  public static var transpose: Int { @_noLocks get { 2 } }
  public static var others: Int { @_noLocks get { 3 } }

  private var map: NoteMap
  private var degrees: Scaled
  private var root: Float
  private var leavesOut: Bool

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { arena in (arena.reserve(NoteMap.size), arena.reserve(Scaled.size)) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    map = NoteMap(arena.reserve(NoteMap.size))
    degrees = Scaled(configuration.values[Self.scale], arena.reserve(Scaled.size))
    root = configuration.value(Self.root)
    leavesOut = configuration.value(Self.others) > 0.5
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    switch parameter {
    case Self.scale: degrees.set(element, value)
    case Self.root: root = value
    default: leavesOut = value > 0.5
    }
  }

  /// The nearest key of the scale, the lower one of two; -1: left out. At both ends of the keyboard the scale goes on, but
  /// there are no keys.
  @_noLocks private func nearest(_ key: UInt8) -> Int {
    let count = degrees.count
    guard count > 0 else { return Int(key) }
    let period = degrees.period * 12
    let place = Float(key) - root
    var cycle = Float(Int(place / period))
    if cycle * period > place { cycle -= 1 }
    var (best, distance) = (-1, Float.infinity)
    var index = -1
    while index <= count {
      let degree =
        index < 0
        ? degrees[count &- 1] * 12 - period : index < count ? degrees[index] * 12 : degrees[0] * 12 + period
      let candidate = cycle * period + degree
      let far = candidate < place ? place - candidate : candidate - place
      let number = candidate + root + 0.5
      if number >= 0, number < 128, far < distance - 1e-4 { (best, distance) = (Int(number), far) }
      index &+= 1
    }
    return leavesOut && distance > 0.5 ? -1 : best
  }

  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    guard let output = block.eventOutput else { return .silent }
    let transpose = block.parameters[Self.transpose]
    let (map, here) = (map, self)
    map.follow(block, output) { event in
      let key = here.nearest(event.key)
      guard key >= 0 else { return }
      let higher = limited(transpose.value(0, at: Int(event.offset)), -127, 127)
      map.add(key &+ Int(higher < 0 ? higher - 0.5 : higher + 0.5), of: event, output)
    }
    return .silent
  }
}
