/// Effects on the sum of an instrument's voices: a chain each for the voices themselves and for their reverb
/// and chorus sends, and the level of each chain's output.
package struct EffectPlan: BitwiseCopyable {
  package static var most: Int { @_noLocks @inline(__always) get { 8 } }
  package static var buses: Int { @_noLocks @inline(__always) get { 3 } }

  package typealias Units = (
    EffectUnit, EffectUnit, EffectUnit, EffectUnit, EffectUnit, EffectUnit, EffectUnit, EffectUnit
  )
  private static var none: Units {
    let unit = EffectUnit(kind: .gain)
    return (unit, unit, unit, unit, unit, unit, unit, unit)
  }
  package var units: (Units, Units, Units) = (none, none, none)
  package var counts: (Int32, Int32, Int32) = (0, 0, 0)
  package var shares: (Float, Float, Float) = (1, 0, 0)

  package init() {}

  /// True without any effect.
  package var isEmpty: Bool {
    @_noLocks get {
      counts.0 &+ counts.1 &+ counts.2 == 0 && shares.0 == 1 && shares.1 == 0 && shares.2 == 0
    }
  }

  func count(_ bus: Int) -> Int {
    Int(bus == 0 ? counts.0 : (bus == 1 ? counts.1 : counts.2))
  }

  /// Appends an effect to a bus; false when there is no room. Worker.
  package mutating func append(_ unit: EffectUnit, to bus: Int) -> Bool {
    let count = count(bus)
    guard count < Self.most else { return false }
    withUnsafeMutableBytes(of: &units) {
      $0.bindMemory(to: EffectUnit.self)[bus * Self.most + count] = unit
    }
    switch bus {
    case 0: counts.0 += 1
    case 1: counts.1 += 1
    default: counts.2 += 1
    }
    return true
  }
}

/// One effect of an instrument; the meaning of its numbers depends on the kind.
package struct EffectUnit: BitwiseCopyable {
  package enum Kind: UInt8, BitwiseCopyable {
    case gain, width, lofi, filter, distortion

    @_noLocks package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
  }

  package var kind: Kind
  package var filter = FilterKind.lowpass
  /// First value, by kind: gain; percent of width; percent of bit reduction; cents above 8.176 Hz; gain into
  /// the curve.
  package var first: Float = 0
  /// Second value, by kind: percent of decimation; decibels; cents of the tone.
  package var second: Float = 0
  /// Third value, by kind: octaves; dry share.
  package var third: Float = 0
  /// Wet share.
  package var fourth: Float = 0
  /// Number of passes through the curve.
  package var stages: UInt8 = 1

  package init(
    kind: Kind, filter: FilterKind = .lowpass, first: Float = 0, second: Float = 0, third: Float = 0,
    fourth: Float = 0, stages: UInt8 = 1
  ) {
    (self.kind, self.filter, self.stages) = (kind, filter, stages)
    (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
  }
}
