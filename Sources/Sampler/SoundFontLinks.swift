/// Modulators that feed others ("SoundFont Technical Specification" 2.04, chapters 7.4, 8.2.1 and 9.5.4).
///
/// A modulator whose destination has its top bit set is linked to the modulator of that number in its own zone,
/// which names the link as its source. The outputs of all that are linked to one add up, and stand where a
/// controller would stand: 0...127, beyond which nothing more happens. (The specification leaves open what a
/// linked output is measured in; an amount of 127 is a controller's whole way.) Its own direction, polarity and
/// curve are then those of any source.
extension SoundFontFile.Modulator {
  /// Its source is what others are linked to.
  var isLinked: Bool { source & 0xFF == 127 }

  /// The number in its zone of the modulator that it feeds.
  private var link: Int? { destination & 0x8000 != 0 ? destination & 0x7FFF : nil }

  /// A zone's modulators of generators, each with those that feed it. What feeds none of these stays as it is.
  static func linked(_ zone: [Self]) -> [Self] {
    guard zone.contains(where: { $0.link != nil }) else { return zone }
    let feeding = Dictionary(grouping: zone.indices.filter { zone[$0].link != nil }) { zone[$0].link! }
    var isReached = [Bool](repeating: false, count: zone.count)
    // Each feeds one other: from what feeds none, no way leads back to it.
    func whole(_ index: Int, _ depth: Int) -> Self {
      isReached[index] = true
      var modulator = zone[index]
      guard modulator.isLinked, depth < Most.links else { return modulator }
      modulator.links = (feeding[index] ?? []).map { whole($0, depth + 1) }
      return modulator
    }
    let heads = zone.indices.filter { zone[$0].link == nil }.map { whole($0, 0) }
    return heads + zone.indices.filter { !isReached[$0] }.map { zone[$0] }
  }
}
