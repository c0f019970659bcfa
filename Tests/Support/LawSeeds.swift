import Foundation

/// Where laws are tried: `SOSTENUTO_SEEDS=1000 make test FILTER=LawTests` searches further than every
/// run can.
public let lawSeeds: [UInt64] =
  ProcessInfo.processInfo.environment["SOSTENUTO_SEEDS"].flatMap(UInt64.init).map { Array(1...max($0, 1)) }
  ?? [1, 2, 3, 20_261_121]
