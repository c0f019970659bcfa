import Foundation

/// Random numbers from a seed that a failing test prints: the same everywhere, always. SplitMix64 (Steele,
/// Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Where laws are tried: `SOSTENUTO_SEEDS=1000 make test FILTER=LawTests` searches further than every
/// run can.
public let lawSeeds: [UInt64] =
  ProcessInfo.processInfo.environment["SOSTENUTO_SEEDS"].flatMap(UInt64.init).map { Array(1...max($0, 1)) }
  ?? [1, 2, 3, 20_261_121]
