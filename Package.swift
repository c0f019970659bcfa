// swift-tools-version: 6.1
import Foundation
import PackageDescription

// Modules depend downwards only; ARCHITECTURE.md has the diagram.
let package = Package(
  name: "Sostenuto",
  dependencies: [
    .package(url: "https://github.com/apple/swift-collections", from: "1.1.0")
  ],
  targets: [
    // Bindings to C libraries: one module map and one shim header each, no logic.
    .systemLibrary(name: "CJack", pkgConfig: "jack", providers: [.apt(["libjack-jackd2-dev"])]),
    .systemLibrary(name: "CAlsa", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
    // No pkg-config: SwiftPM warns about the flags that it gives for ncursesw and rejects them. The header is
    // in the system's include directory.
    .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),
    .systemLibrary(
      name: "CSndfile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
    .systemLibrary(
      name: "CSamplerate", pkgConfig: "samplerate", providers: [.apt(["libsamplerate0-dev"])]),
    .systemLibrary(name: "CEbur128", pkgConfig: "libebur128", providers: [.apt(["libebur128-dev"])]),
    // No pkg-config: SwiftPM rejects the definitions that it gives for kissfft.
    .systemLibrary(name: "CKissfft", providers: [.apt(["libkissfft-dev"])]),
    .target(name: "CThread"),
    // Vector instructions by name, compiled into their callers.
    .target(name: "CVector"),
    // Table of C functions of a node kind that is only known at run time.
    .target(name: "CKind"),

    // The patch document and its text format.
    .target(
      name: "Patch", dependencies: [.product(name: "OrderedCollections", package: "swift-collections")]),
    .target(name: "PatchLanguage", dependencies: ["Patch"]),

    // Audio.
    .target(name: "Realtime", dependencies: ["CThread"]),
    .target(name: "Midi", dependencies: ["Realtime"]),
    .target(name: "Processors", dependencies: ["Patch", "Realtime", "CVector"]),
    // Voices on the audio thread, and the instruments that they play; then the readers that make these.
    .target(name: "Sampler", dependencies: ["Patch", "Realtime", "CThread", "CVector"]),
    .target(
      name: "Instruments",
      dependencies: ["Patch", "Processors", "Realtime", "Sampler", "CSndfile", "CSamplerate"]),
    // Sound into files, from the audio thread.
    .target(name: "Recording", dependencies: ["Realtime", "CSndfile", "CSamplerate"]),
    // What sound looks like: spectra, pitch, loudness.
    .target(name: "Analysis", dependencies: ["CEbur128", "CKissfft"]),
    .target(
      name: "Engine",
      dependencies: [
        "Patch", "Realtime", "Processors", "Sampler", "CKind", "CVector",
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "OrderedCollections", package: "swift-collections"),
      ]),
    .target(
      name: "Drivers",
      dependencies: [
        "Engine", "Loop", "Midi", "Patch", "Realtime", "Recording", "CJack", "CAlsa", "CSndfile",
        "CSamplerate",
        "CThread",
      ]),
    .target(
      name: "Session",
      dependencies: [
        "Patch", "PatchLanguage", "Engine", "Drivers", "Midi", "Realtime", "Recording", "Instruments",
        "Sampler", "Screen", "CThread",
      ]),

    // User interface.
    .target(name: "CLoop"),
    .target(name: "Loop", dependencies: ["CLoop"]),
    .target(name: "Screen"),
    .target(name: "CTerminal"),
    .target(name: "Terminal", dependencies: ["Loop", "Screen", "CNcurses", "CTerminal"]),
    .target(
      name: "Interface",
      dependencies: [
        "Analysis", "Session", "Engine", "Patch", "PatchLanguage", "Realtime", "Recording", "Screen",
      ]),

    .executableTarget(
      name: "sostenuto",
      dependencies: [
        "Session", "Interface", "Loop", "Terminal", "Screen", "Drivers", "Engine", "Instruments", "Midi",
        "Patch", "PatchLanguage", "Realtime", "Recording",
      ]),

    // Helpers shared by several test targets: random edits with shrinking, and exact frame positions.
    .target(
      name: "TestSupport",
      dependencies: ["Engine", "Patch", "PatchLanguage", "Realtime", "CForeign", "CUnseen"],
      path: "Tests/Support"),
    .target(name: "CUnseen", path: "Tests/CUnseen"),
    .testTarget(name: "AnalysisTests", dependencies: ["Analysis", "TestSupport"]),
    .testTarget(name: "MidiTests", dependencies: ["Midi", "Realtime", "TestSupport"]),
    .testTarget(
      name: "PatchTests", dependencies: ["Patch", "PatchLanguage", "Engine", "Processors", "TestSupport"]),
    .testTarget(name: "RealtimeTests", dependencies: ["Realtime"]),
    .testTarget(name: "RecordingTests", dependencies: ["Recording", "Realtime", "CSndfile"]),
    .testTarget(
      name: "ProcessorsTests", dependencies: ["Processors", "Engine", "Patch", "Realtime", "TestSupport"]),
    .testTarget(
      name: "SamplerTests",
      dependencies: ["Instruments", "Processors", "Sampler", "Patch", "Realtime", "CSndfile"]),
    // A kind in C, which tests add to a running engine.
    .target(name: "CForeign", dependencies: ["CKind"], path: "Tests/CForeign"),
    .testTarget(
      name: "EngineTests",
      dependencies: [
        "Engine", "Patch", "PatchLanguage", "Realtime", "Instruments", "Sampler", "TestSupport", "CForeign",
        "CKind",
      ]),
    .target(name: "CAudit", path: "Tests/CAudit"),
    .target(name: "CFakeAlsa", path: "Tests/CFakeAlsa"),
    .testTarget(
      name: "DriversTests",
      dependencies: [
        "Drivers", "Engine", "Midi", "Patch", "PatchLanguage", "Realtime", "Recording", "Instruments",
        "Sampler",
        "CJack", "CAlsa",
        "CAudit",
        "CFakeAlsa", "Session", "TestSupport",
      ]),
    .testTarget(name: "ScreenTests", dependencies: ["Loop", "Screen", "Terminal"]),
    .testTarget(
      name: "InterfaceTests",
      dependencies: [
        "Interface", "Analysis", "Drivers", "Engine", "Patch", "PatchLanguage", "Realtime", "Recording",
        "Screen", "Session",
      ]),
    // A session in a process of its own, which a test can kill.
    .executableTarget(
      name: "StormWorker", dependencies: ["Session", "Engine", "PatchLanguage"], path: "Tests/StormWorker"),
    .testTarget(
      name: "SessionTests",
      dependencies: [
        "Session", "StormWorker", "Engine", "Midi", "Patch", "PatchLanguage", "Realtime", "Drivers",
        "TestSupport", "CThread",
      ]),
    // A session with many nodes, timed (`make bench-scale`).
    .executableTarget(
      name: "Scale", dependencies: ["Session", "Engine", "Drivers"], path: "Benchmarks/Scale"),
    .testTarget(
      name: "ProgramTests",
      dependencies: ["sostenuto", "Drivers", "Interface", "PatchLanguage", "TestSupport"]),
    // What documents say about the sources, read as texts.
    .testTarget(name: "RepositoryTests"),
  ],
  swiftLanguageModes: [.v6]
)

// Fuzzers (`make fuzz`, which sets FUZZ=1) have no `main` of their own. Otherwise they are libraries that nothing
// links, built with the tests so that they stay in step with the code.
let isFuzzing = ProcessInfo.processInfo.environment["FUZZ"] == "1"
func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  let path = "Fuzz/" + name.dropFirst("Fuzz".count)
  return isFuzzing
    ? .executableTarget(name: name, dependencies: ["FuzzDriver"] + dependencies, path: path)
    : .target(name: name, dependencies: ["FuzzDriver"] + dependencies, path: path)
}
package.targets += [
  .target(name: "FuzzDriver", path: "Fuzz/Driver"),
  fuzzer("FuzzReader", ["Patch", "PatchLanguage", "Engine"]),
  fuzzer("FuzzMidi", ["Midi"]),
  fuzzer("FuzzSession", ["Patch", "PatchLanguage", "Engine", "Drivers", "Session"]),
  fuzzer("FuzzScreen", ["Session", "Screen", "Terminal", "Interface"]),
]
if isFuzzing {
  package.targets.removeAll { $0.type == .test }
  // Plays what it reads as the tests do, of which it borrows two files.
  package.targets.append(
    .executableTarget(
      name: "FuzzFiles", dependencies: ["FuzzDriver", "Instruments", "Patch", "Realtime", "Sampler"],
      path: ".",
      sources: [
        "Fuzz/Files", "Tests/SamplerTests/Rig.swift", "Tests/SamplerTests/SeededGenerator.swift",
      ]))
}

// `make test FILTER=…` builds only the named test targets and what they depend on.
let wanted = (ProcessInfo.processInfo.environment["SOSTENUTO_TESTS"] ?? "").split(separator: " ").map(
  String.init)
if !wanted.isEmpty {
  var needed: Set<String> = []
  var waiting = wanted
  while let name = waiting.popLast() {
    guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
      continue
    }
    for case .byNameItem(let dependency, _) in target.dependencies { waiting.append(dependency) }
  }
  package.targets.removeAll { !needed.contains($0.name) }
}

// `make test` and the other checks build with STRICT=1: warnings are errors.
if ProcessInfo.processInfo.environment["STRICT"] == "1" {
  for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-warnings-as-errors"])]
  }
}
