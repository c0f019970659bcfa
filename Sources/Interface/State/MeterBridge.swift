import Engine
import Patch
import Session

extension ViewName {
  static let meters = ViewName(rawValue: "meters")
}

/// Levels of every port with sound: those of the driver first, then those of the nodes in the order of the file. The highest
/// are measured all the time, so that one sees afterwards what clipped.
public struct MeterBridge: Sendable {
  /// A port with its channels.
  struct Strip: Sendable {
    let port: ListenedPort
    let name: String
    /// A port of the driver.
    let isEnd: Bool
    /// Its signals move others: they have no level that is too high.
    let isControl: Bool
    var channels: [Channel] = []
    /// Highest peak of all channels, linear.
    var highest: Float { channels.map(\.highest).max() ?? 0 }
    /// Something was above full scale.
    var isClipped: Bool { isClipped(highest) }

    func isClipped(_ peak: Float) -> Bool { !isControl && Meter.isClipping(peak) }

    /// Where the report has it.
    fileprivate var place: (node: Int, port: Int)?
  }

  struct Channel: Sendable {
    var level = MeterLevel()
    /// Highest peak since the last reset, linear.
    var highest: Float = 0
  }

  private(set) var strips: [Strip] = []
  /// Only ports of the driver are shown.
  var showsEndsOnly = false
  /// The port at the cursor.
  var selected: ListenedPort?
  /// Indices of the inputs' strips, and of those of the outputs by their node's place in the report.
  private var inputs: [Int] = []
  private var own: [Int: [Int]] = [:]
  private var form: ReportForm?
  private var revision: Revision?
  private var takenAt = 0.0

  public init() {}

  /// The strips that are shown.
  var shown: [Strip] { showsEndsOnly ? strips.filter(\.isEnd) : strips }

  /// Index of the port at the cursor among those shown.
  var index: Int { shown.firstIndex { $0.port == selected } ?? 0 }

  /// Forgets what was highest.
  mutating func reset() {
    for strip in strips.indices {
      for channel in strips[strip].channels.indices { strips[strip].channels[channel] = Channel() }
    }
  }

  /// Updates with the peaks since the last call. `isShown`: meters fall and peaks are held; otherwise only the highest is
  /// noted. Returns true if the appearance changed.
  mutating func take(_ scene: Scene, at now: Double, isShown: Bool) -> Bool {
    var isChanged = follow(scene)
    let seconds = min(1, max(0, now - takenAt))
    takenAt = now
    // A level that does not move has no higher peak, but for inputs, whose level is that of other nodes.
    let indices =
      isShown
      ? Array(strips.indices)
      : scene.report.looked.map { inputs + $0.flatMap { own[$0] ?? [] } }
        ?? Array(strips.indices)
    for index in indices {
      guard let place = strips[index].place, scene.report.nodes.indices.contains(place.node) else { continue }
      let levels: GridLevels
      if strips[index].port.isInput {
        levels = scene.levels(ofInput: scene.report.nodes[place.node].inputs[place.port])
      } else {
        levels = GridLevels(output: scene.report.nodes[place.node].outputs[place.port])
      }
      isChanged = strips[index].take(levels, now, seconds, isShown: isShown) || isChanged
    }
    return isChanged && isShown
  }

  /// Has the strips of the present patch and plan; what is known of a port stays.
  private mutating func follow(_ scene: Scene) -> Bool {
    if let form, form === scene.report.form, revision === scene.patch.revision { return false }
    (form, revision) = (scene.report.form, scene.patch.revision)
    let known = Dictionary(strips.map { ($0.port, $0.channels) }, uniquingKeysWith: { first, _ in first })
    let places = Dictionary(
      scene.report.nodes.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    var all: [Strip] = []
    for node in scene.patch.nodes.values where scene.programs[node.id] == nil {
      guard let kind = scene.catalogue[node.kind] else { continue }
      let isEnd = kind.endpoint != nil
      let report = places[node.id].map { (place: $0, node: scene.report.nodes[$0]) }
      func add(_ name: String, isInput: Bool) {
        let port = ListenedPort(node.id, name, isInput: isInput)
        let ports = isInput ? report?.node.inputs : report?.node.outputs
        var strip = Strip(
          port: port, name: "\(node.name).\(name)", isEnd: isEnd, isControl: kind.movesOthers,
          channels: known[port] ?? [])
        if let report, let index = ports?.firstIndex(where: { $0.name == name }) {
          strip.place = (report.place, index)
          strip.has(ports?[index].channels ?? 0)
        }
        all.append(strip)
      }
      for port in kind.outputs where !port.isEvents && !port.isOptional { add(port.name, isInput: false) }
      // The input's level is shown where nothing comes out.
      if !kind.outputs.contains(where: { !$0.isEvents }) {
        for port in kind.inputs where !port.isEvents { add(port.name, isInput: true) }
      }
    }
    strips = all.filter(\.isEnd) + all.filter { !$0.isEnd }
    inputs = strips.indices.filter { strips[$0].port.isInput }
    own = [:]
    for index in strips.indices where !strips[index].port.isInput {
      if let place = strips[index].place { own[place.node, default: []].append(index) }
    }
    return true
  }
}

extension MeterBridge.Strip {
  fileprivate mutating func has(_ count: Int) {
    if channels.count > count { channels.removeLast(channels.count - count) }
    while channels.count < count { channels.append(MeterBridge.Channel()) }
  }

  fileprivate mutating func take(
    _ levels: GridLevels, _ now: Double, _ seconds: Double, isShown: Bool
  ) -> Bool {
    var isChanged = false
    for (index, peak) in levels.peaks.enumerated() where index < channels.count {
      if peak > channels[index].highest {
        channels[index].highest = peak
        isChanged = true
      }
      guard isShown else { continue }
      let old = channels[index].level
      channels[index].level.take(
        peak: peak, mean: levels.means.indices.contains(index) ? levels.means[index] : nil, at: now,
        after: seconds)
      isChanged = isChanged || !old.isSameSight(as: channels[index].level)
    }
    return isChanged
  }
}
