/// `connect piano -> dist gain=-3dB map=[0,1,-1,-1] mix=discrete`
struct Connect: EditVerbs {
  var name: CableName
  /// Decibels.
  var gain: Double
  var map: ChannelMap?
  var mixing: ChannelMixing

  /// Decibels that a cable may add.
  static let loudest = 60.0
  static let mostChannels = 64

  func apply(to draft: inout Draft) throws(EditError) {
    let ends = try draft.patch.fitting(name, catalogue: draft.catalogue)
    guard gain <= Self.loudest else {
      let written = Value.number(gain, .decibels).line
      throw EditError("a cable's gain is -inf to \(Int(Self.loudest))dB, not \(written)", token: written)
    }
    if let map {
      guard (1...Self.mostChannels).contains(map.sources.count),
        map.sources.allSatisfy({ (-1..<Self.mostChannels).contains($0) })
      else {
        throw EditError(
          "a channel map has 1 to \(Self.mostChannels) entries, each -1 (none) or a channel from 0 to \(Self.mostChannels - 1)",
          token: map.line)
      }
    }
    if gain != 0 || map != nil || mixing != .speakers, draft.carriesEvents(ends) {
      throw EditError(
        "`\(draft.patch.name(of: ends))` carries events: it has no gain, map or mix", token: "connect")
    }
    let comments = draft.patch.cables[ends]?.comments ?? Comments()
    draft.patch.plug(Cable(ends, gain: gain == 0 ? 0 : gain, map: map, mixing: mixing, comments: comments))
    draft.isSilent = false
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    let ends = try draft.patch.fitting(name, catalogue: draft.catalogue)
    let full = draft.patch.name(of: ends)
    guard let old = draft.patch.cables[ends] else { return .disconnect(full) }
    return .connect(full, gain: old.gain, map: old.map, mixing: old.mixing)
  }

  func describe() -> String {
    var line = "connect \(name)"
    if gain != 0 { line += " gain=\(Value.number(gain, .decibels).line)" }
    if let map { line += " map=\(map.line)" }
    if mixing != .speakers { line += " mix=\(mixing.rawValue)" }
    return line
  }

  /// The edits that bring a cable back as it is now.
  static func restoring(_ ends: Cable.Ends, in patch: Patch) -> [Edit] {
    guard let cable = patch.cables[ends] else { return [] }
    let name = patch.name(of: ends)
    let connect = Edit.connect(name, gain: cable.gain, map: cable.map, mixing: cable.mixing)
    return cable.comments.isEmpty ? [connect] : [connect, .comment(.cable(name), cable.comments)]
  }
}

extension ChannelMap {
  /// `[0,1,-1,-1]`
  public var line: String { "[" + sources.map(String.init).joined(separator: ",") + "]" }
}
