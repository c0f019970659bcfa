import Foundation

private let wanted = ProcessInfo.processInfo.environment["SOSTENUTO_SEEDS"].flatMap(UInt64.init)

/// Where laws are tried: `make laws COUNT=1000` searches further than every run can.
public let lawSeeds: [UInt64] =
  wanted.map { Array(1...max($0, 1)) } ?? [1, 2, 3, 20_261_121]

/// Seeds of a law that is tried on many short scripts.
public let manyLawSeeds: [UInt64] = wanted == nil ? Array(1...24) : lawSeeds

/// Steps of a script: a few long ones in every run, many short ones in a search.
public func lawLength(_ usual: Int) -> Int { wanted == nil ? usual : max(usual / 10, 30) }
