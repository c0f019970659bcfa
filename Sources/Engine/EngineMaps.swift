import Patch
import Realtime

/// The maps that the audio thread has, and what they move, as the worker knows it. Worker.
final class EngineMaps {
  /// A parameter or the gain of a cable that maps move.
  final class Values {
    let node: EngineNode?
    let cable: EngineCable?
    /// Position of the parameter.
    let parameter: Int
    let isShared: Bool
    let memory: UnsafeMutablePointer<MappedValues>
    /// State on the audio thread, as far as known: values without switches, and switches.
    var values: [Float]
    var switches: [UInt8]
    /// Serial number of the last transaction that set an element.
    var sent: [Int: Int] = [:]
    /// The gains of cables that add to elements, and are heard as their switches say.
    private(set) var followers: [(element: Int, gain: Values)] = []
    /// The same for the audio thread.
    private var list = UnsafeMutableBufferPointer<MappedValues.Follower>(start: nil, count: 0)

    init(
      node: EngineNode?, cable: EngineCable?, parameter: Int, description: ParameterDescription?,
      values: [Float], switches: [UInt8]
    ) {
      self.node = node
      self.cable = cable
      self.parameter = parameter
      isShared = description?.dimensions.isEmpty == true
      self.values = values
      self.switches = switches
      memory = .allocate(capacity: 1)
      memory.initialize(
        to: MappedValues(
          node: node?.slot, cable: cable?.slot, parameter: parameter,
          isKernels: description?.smoothing == .kernel, isShared: isShared, values: values,
          switches: switches))
    }

    deinit {
      memory.pointee.deallocate()
      memory.deallocate()
      list.deallocate()
    }

    /// Factors of all elements by their switches: 1, 0 or -1.
    var factors: [Float] {
      let (mute, solo, invert) = (MappedValues.bit(.mute), MappedValues.bit(.solo), MappedValues.bit(.invert))
      let hasSolo = switches.contains { $0 & solo != 0 }
      return switches.map { on in
        if on & mute != 0 || hasSolo && on & solo == 0 { return 0 }
        return on & invert != 0 ? -1 : 1
      }
    }

    /// Values of all elements as they are heard.
    var heard: [Float] {
      zip(values, factors).map { value, factor in factor == 0 ? 0 : factor < 0 ? 0 - value : value }
    }

    /// The switches that make a factor of 1, 0 or -1.
    static func switches(_ factor: Float) -> UInt8 {
      factor == 0 ? MappedValues.bit(.mute) : factor < 0 ? MappedValues.bit(.invert) : 0
    }

    /// Makes a list of followers for the audio thread. Returns it, and what frees the one before.
    func follow(
      _ new: [(element: Int, gain: Values)]
    ) -> (list: UnsafeMutableBufferPointer<MappedValues.Follower>, free: () -> Void) {
      let (old, gone) = (list, followers)
      list = .allocate(capacity: new.count)
      _ = list.initialize(
        from: new.map { MappedValues.Follower(element: Int32($0.element), gain: $0.gain.memory) })
      followers = new
      return (
        list,
        {
          old.deallocate()
          withExtendedLifetime(gone) {}
        }
      )
    }
  }

  /// Everything that makes a map what it is: another one gets a slot of its own.
  struct Key: Hashable {
    var name: MapName
    var course: MapCourse
    var source: ObjectIdentifier
    var values: ObjectIdentifier
    var element: Int
    var field: UInt8
  }

  /// A map with its slot.
  final class Map {
    let key: Key
    let number: Int32
    let scale: MapScale
    let parameter: ParameterDescription
    let values: Values
    let source: EngineNode
    let field: MappedValues.Field
    let slot: UnsafeMutablePointer<MapSlot>

    init(
      _ key: Key, number: Int32, scale: MapScale, parameter: ParameterDescription, source: EngineNode,
      values: Values, field: MappedValues.Field
    ) {
      self.key = key
      self.number = number
      self.scale = scale
      self.parameter = parameter
      self.values = values
      self.source = source
      self.field = field
      let (sender, first, second) = Self.facts(key.name.source.sender)
      slot = .allocate(capacity: 1)
      slot.initialize(
        to: MapSlot(
          number: number, source: source.slot, sender: sender, first: first, second: second,
          channel: key.name.source.channel, mode: Self.mode(scale.mode), waits: scale.waits,
          values: values.memory, element: key.element, field: field,
          scale: (0...scale.most).map { parameter.engineValue(of: scale.value(at: $0)) }))
    }

    deinit {
      slot.pointee.deallocate()
      slot.deinitialize(count: 1)
      slot.deallocate()
    }

    private static func mode(_ mode: MapCourse.Mode) -> MapSlot.Mode {
      switch mode {
      case .absolute: .absolute
      case .toggle: .toggle
      case .relative: .relative
      case .offset: .offset
      case .sign: .sign
      }
    }

    private static func facts(_ sender: MapSource.Sender) -> (MapSlot.Sender, Int, Int) {
      switch sender {
      case .controller(let number): (.controller, number, 0)
      case .fine(let coarse, let fine): (.fine, coarse, fine)
      case .nrpn(let number): (.nrpn, number, 0)
      case .rpn(let number): (.rpn, number, 0)
      case .note(let key): (.note, key, 0)
      case .bend: (.bend, 0, 0)
      case .pressure: (.pressure, 0, 0)
      case .keyPressure(let key): (.keyPressure, key, 0)
      }
    }
  }

  /// The maps of the table, in the order of the file.
  var maps: [Map] = []
  /// Maps that have left the table, whose last movements may still be unread.
  var retired: [Map] = []
  private(set) var table: UnsafeMutablePointer<MapTable>?
  private(set) var fade = 0
  private(set) var ears: [EngineNode] = []
  var nextNumber: Int32 = 0
  private static let mostRetired = 64

  /// Everything that maps move, each once, followers included.
  var values: [Values] {
    var seen: Set<ObjectIdentifier> = []
    return maps.flatMap { [$0.values] + $0.values.followers.map(\.gain) }
      .filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  func map(numbered number: Int32) -> Map? {
    maps.first { $0.number == number } ?? retired.first { $0.number == number }
  }

  /// Makes a table of these maps. Returns it, and what frees the one before; nil: it is the same.
  func install(
    _ new: [Map], fade: Int, ears: [EngineNode]
  ) -> (table: UnsafeMutablePointer<MapTable>?, free: () -> Void)? {
    let isSame =
      new.count == maps.count && zip(new, maps).allSatisfy { $0 === $1 }
      && ears.count == self.ears.count && zip(ears, self.ears).allSatisfy { $0 === $1 }
    if isSame, fade == self.fade || table == nil { return nil }
    let (old, gone) = (table, maps.filter { map in !new.contains { $0 === map } })
    retired = Array((retired + gone).suffix(Self.mostRetired))
    (maps, self.fade, self.ears) = (new, fade, ears)
    table = nil
    if !new.isEmpty || !ears.isEmpty {
      let place = UnsafeMutablePointer<MapTable>.allocate(capacity: 1)
      place.initialize(to: MapTable(new.map(\.slot), fade: fade, ears: ears.compactMap { $0.slot }))
      table = place
    }
    // The maps that the old table points at live as long as it does.
    return (
      table,
      {
        old?.pointee.deallocate()
        old?.deallocate()
        withExtendedLifetime(gone) {}
      }
    )
  }

  deinit {
    table?.pointee.deallocate()
    table?.deallocate()
  }
}
