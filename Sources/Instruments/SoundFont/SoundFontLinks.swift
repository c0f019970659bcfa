import Sampler

/// Modulators that feed other modulators ("SoundFont Technical Specification" 2.04, chapters 7.4, 8.2.1 and
/// 9.5.4).
///
/// A modulator whose destination has its top bit set is linked to the modulator of that number in its own
/// zone, which has the link as its source. The outputs of all modulators linked to one are added, and act
/// like a controller's value: 0...127, limited to that range. (The specification leaves the unit of a linked
/// output open; here an amount of 127 is a controller's full range.) Direction, polarity and curve apply as
/// for any source.
extension SoundFontFile.Modulator {
  /// True when its source is a link.
  var isLinked: Bool { source & 0xFF == 127 }

  /// The number in its zone of the modulator that it feeds.
  private var link: Int? { destination & 0x8000 != 0 ? destination & 0x7FFF : nil }

  /// A zone's modulators of generators, each with the modulators that feed it. Modulators outside these
  /// chains are left as they are.
  static func linked(_ zone: [Self]) -> [Self] {
    guard zone.contains(where: { $0.link != nil }) else { return zone }
    let feeding = Dictionary(grouping: zone.indices.filter { zone[$0].link != nil }) { zone[$0].link! }
    var isReached = [Bool](repeating: false, count: zone.count)
    // Each modulator feeds one other, so a chain that ends in a generator has no cycle.
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
