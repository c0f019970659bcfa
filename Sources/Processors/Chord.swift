import Glibc
import Patch
import Realtime

/// Makes a chord of each note.
public struct Chord: Kernel {
  public static let description = KindDescription(
    name: "chord", summary: "Makes a chord of each note.", category: .control,
    inputs: [PortDescription("in", .events)],
    outputs: [PortDescription("out", .events, "The chords; all but notes passes as it is.")],
    parameters: [
      ParameterDescription(
        "notes",
        "A name (\(names.map(\.key).joined(separator: ", "))), or up to eight distances in semitones: \"0 4 7\". The next notes have them.",
        form: .text, default: .text("major"), smoothing: .kernel, reader: TextReader(read)),
      .number(
        "velocity", "Velocity of the added notes beside that of the played one.", default: 80, range: 1...200,
        unit: .percent),
    ], cost: .init(12))

  /// Positions in `description.parameters`.
  public static var notes: Int { @_noLocks get { 0 } }
  public static var velocity: Int { @_noLocks get { 1 } }

  static let names: KeyValuePairs = [
    "major": "0 4 7", "minor": "0 3 7", "dim": "0 3 6", "aug": "0 4 8", "sus2": "0 2 7", "sus4": "0 5 7",
    "6": "0 4 7 9", "7": "0 4 7 10", "maj7": "0 4 7 11", "m7": "0 3 7 10", "9": "0 4 7 10 14",
    "m9": "0 3 7 10 14", "power": "0 7 12", "octave": "0 12",
  ]

  @Sendable static func read(_ text: String) throws(TextReader.Fault) -> [Float] {
    let known = names.first { $0.key == text.lowercased() }
    var distances: [Float] = []
    for word in Words(known?.value ?? text) {
      guard let distance = Int(word.text), abs(distance) <= 127 else {
        throw .init(word.column, "expects a known chord, or semitones from -127 to 127, such as `0 4 7`")
      }
      distances.append(Float(distance))
      guard distances.count <= 8 else { throw .init(word.column, "is the ninth note; eight are possible") }
    }
    guard !distances.isEmpty else { throw .init(1, "has no notes") }
    return [Float(distances.count)] + distances + [Float](repeating: 0, count: 8 - distances.count)
  }

  private var map: NoteMap
  private var count: Int = 0
  private var distances = SIMD8<Float>(repeating: 0)

  public static func memorySize(_ configuration: KernelConfiguration) -> Int { NoteMap.size }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    map = NoteMap(memory)
    for (index, value) in configuration.values[Self.notes].enumerated() {
      set(Self.notes, element: index, to: value, over: 0)
    }
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    if element == 0 {
      count = value >= 0 && value <= 8 ? Int(value) : 0
    } else if element > 0, element <= 8 {
      distances[element &- 1] = limited(value, -127, 127)
    }
  }

  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    guard let output = block.eventOutput else { return .silent }
    let velocity = block.parameters[Self.velocity]
    let (map, count, distances) = (map, count, distances)
    map.follow(block, output) { event in
      var number = 0
      while number < count {
        var note = event
        let distance = distances[number]
        if distance != 0 {
          let share = velocity.value(0, at: Int(event.offset)) * 0.01
          note.value = limited(event.value * share, 1, 127)
        }
        map.add(Int(event.key) &+ Int(distance), of: note, output)
        number &+= 1
      }
    }
    return .silent
  }
}
