import Foundation

private let search = ProcessInfo.processInfo.environment["SOSTENUTO_SEEDS"]
/// Number of seeds: `SOSTENUTO_SEEDS=150`.
private let wanted = search.flatMap(UInt64.init)
/// These seeds alone: `SOSTENUTO_SEEDS=89,145`, or `89,`.
private let named = search.flatMap { text in
  text.contains(",") ? text.split(separator: ",").compactMap { UInt64($0) } : nil
}

/// Seeds for the laws: a few, or `COUNT` of them by `make laws COUNT=1000`.
public let lawSeeds: [UInt64] =
  named ?? wanted.map { Array(1...max($0, 1)) } ?? [1, 2, 3, 20_261_121]

/// Seeds of a random test that has its own, and as many more as a search asks for.
public func searchSeeds(_ usual: UInt64...) -> [UInt64] { searched(usual) }

/// The same for a range of seeds.
public func searchSeeds(_ usual: ClosedRange<UInt64>) -> [UInt64] { searched(Array(usual)) }

/// True for a seed that only a search has: nobody has seen that its patch is not silent.
public func isSearched(_ seed: UInt64) -> Bool { (1_000_001..<20_000_000).contains(seed) }

private func searched(_ usual: [UInt64]) -> [UInt64] {
  named ?? usual + (wanted.map { (1...max($0, 1)).map { 1_000_000 + $0 } } ?? [])
}

/// Seeds of a law that is tested on many short scripts.
public let manyLawSeeds: [UInt64] = search == nil ? Array(1...24) : lawSeeds

/// Number of steps in a script: a few long scripts in every run, many short ones in a search.
public func lawLength(_ usual: Int) -> Int { search == nil ? usual : max(usual / 10, 30) }
