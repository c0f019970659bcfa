/// `connect piano -> dist gain=-3dB map=[0,1,-1,-1] mix=discrete`, `connect lfo -> filter.freq by 2oct`
struct Connect: EditVerbs {
  var name: CableName
  var settings: CableSettings

  /// Largest gain of a cable, in decibels.
  static let loudest = 60.0
  static let mostChannels = 64
  /// The gain as a parameter, for controls.
  static let gainDescription = ParameterDescription(
    "gain", "Gain of the cable.", unit: .decibels, range: -.infinity...loudest, default: .number(0, .decibels)
  )

  func apply(to draft: inout Draft) throws(EditError) {
    let ends = try draft.patch.fitting(name, catalogue: draft.catalogue)
    try check(ends, in: draft)
    let comments = draft.patch.cables[ends]?.comments ?? Comments()
    var settings = settings
    if settings.gain == 0 { settings.gain = 0 }
    settings.modulation = draft.patch.modulation(settings.modulation, of: ends, catalogue: draft.catalogue)
    draft.patch.plug(Cable(ends, settings, comments: comments))
    draft.isSilent = false
  }

  /// Throws for settings that a cable between these ports cannot have.
  func check(_ ends: Cable.Ends, in draft: Draft) throws(EditError) {
    let (gain, map) = (settings.gain, settings.map)
    guard gain <= Self.loudest else { throw .gainOutOfRange(gain) }
    if let modulation = settings.modulation { try check(modulation, ends, in: draft) }
    if let map {
      guard (1...Self.mostChannels).contains(map.sources.count),
        map.sources.allSatisfy({ (-1..<Self.mostChannels).contains($0) })
      else {
        throw .mapOutOfRange(map)
      }
      if let missing = map.sources.first(where: { $0 >= draft.channels(of: ends.source) ?? .max }) {
        throw .noChannel(
          missing, of: draft.patch.name(of: ends).source, count: draft.channels(of: ends.source) ?? 0)
      }
    }
    if settings == CableSettings() { return }
    if draft.patch.isOutside(ends, catalogue: draft.catalogue) {
      if gain != 0 { throw .hasNoGain(draft.patch.name(of: ends)) }
    } else if draft.carriesEvents(ends) {
      throw .carriesEvents(draft.patch.name(of: ends))
    }
  }

  /// A port of an unknown kind, or of a sub-patch, may be a parameter of any unit.
  private func check(_ modulation: Modulation, _ ends: Cable.Ends, in draft: Draft) throws(EditError) {
    let port = draft.patch.name(of: ends).destination
    if let parameter = draft.patch.modulated(by: ends, catalogue: draft.catalogue) {
      if parameter.modulation(modulation) != nil { return }
      guard let offset = modulation.offset, parameter.depth(modulation.depth) != nil else {
        throw .noDepth(modulation.depth, of: port, parameter.depthUnits)
      }
      throw .noOffset(offset, beside: modulation.depth, parameter.offsetUnits(beside: modulation.depth))
    }
    let kind = draft.patch[ends.destination.node].flatMap { draft.catalogue[$0.kind] }
    if kind?.isContainer == false { throw .modulatesNothing(port) }
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    let ends = try draft.patch.fitting(name, catalogue: draft.catalogue)
    let full = draft.patch.name(of: ends)
    guard let old = draft.patch.cables[ends] else { return .disconnect(full) }
    return .connect(full, old.settings)
  }

  func describe() -> String { "connect \(name)\(settings.words)" }

  /// The edits that restore a cable to its present state.
  static func restoring(_ ends: Cable.Ends, in patch: Patch) -> [Edit] {
    guard let cable = patch.cables[ends] else { return [] }
    return making(patch.name(of: ends), cable.settings, cable.comments)
  }

  /// The edits that make a cable with its comments.
  static func making(_ name: CableName, _ settings: CableSettings, _ comments: Comments) -> [Edit] {
    let connect = Edit.connect(name, settings)
    return comments.isEmpty ? [connect] : [connect, .comment(.cable(name), comments)]
  }
}

extension ChannelMap {
  /// `[0,1,-1,-1]`
  public var line: String { "[" + sources.map(String.init).joined(separator: ",") + "]" }

  /// Replaces sources beyond a channel count by none. nil: nothing to replace.
  func cut(to channels: Int?) -> ChannelMap? {
    guard let channels, sources.contains(where: { $0 >= channels }) else { return nil }
    return ChannelMap(sources.map { $0 < channels ? $0 : -1 })
  }
}

extension Draft {
  /// Channels of an output, if its kind or settings determine them; nil if they depend on the cables.
  func channels(of port: PortReference) -> Int? { patch[port.node].flatMap { channels(of: $0, port.port) } }

  func channels(of node: Node, _ port: String) -> Int? {
    guard let kind = catalogue[node.kind], let output = kind.outputs.first(where: { $0.name == port }) else {
      return nil
    }
    switch output.format {
    case .channels(let count): return count
    case .parameter(let name):
      let mayGrow = kind.sizeParameter(of: output) != nil && kind.parameters.contains(where: kind.isWidened)
      let count = kind.count(name, of: node)
      return mayGrow || count == 0 ? nil : count
    case .events, .flexible: return nil
    }
  }

  /// Edits that remove missing source channels from the maps at a node's outputs.
  func cuttingMaps(at id: NodeID) -> [Edit] {
    patch.cables(from: id, catalogue: catalogue).compactMap { cable in
      guard let map = cable.settings.map?.cut(to: channels(of: cable.ends.source)) else { return nil }
      return .connect(patch.name(of: cable.ends), cable.settings.with(map: map))
    }
  }
}
