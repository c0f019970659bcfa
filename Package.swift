// swift-tools-version: 6.1
import Foundation
import PackageDescription

// Modules depend downwards only; ARCHITECTURE.md draws the picture.
let package = Package(
  name: "Sostenuto",
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
  ],
  targets: [
    // The seams to C: a module map and a shim each, no logic.
    .systemLibrary(name: "CJack", pkgConfig: "jack", providers: [.apt(["libjack-jackd2-dev"])]),
    .systemLibrary(name: "CAlsa", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
    // Without pkg-config, whose flags for ncursesw SwiftPM refuses with a warning; the header is in
    // the system's own directory.
    .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),
    .systemLibrary(
      name: "CSndfile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
    .systemLibrary(
      name: "CSamplerate", pkgConfig: "samplerate", providers: [.apt(["libsamplerate0-dev"])]),
    .target(name: "CThread"),

    // The document.
    .target(
      name: "Patch", dependencies: [.product(name: "OrderedCollections", package: "swift-collections")]),
    .target(name: "PatchLanguage", dependencies: ["Patch"]),

    // The sound.
    .target(name: "Realtime", dependencies: ["CThread"]),
    .target(name: "Midi", dependencies: ["Realtime"]),
    .target(name: "Processors", dependencies: ["Patch", "Realtime"]),
    .target(name: "Sampler", dependencies: ["Patch", "Realtime", "CSndfile", "CSamplerate", "CThread"]),
    .target(
      name: "Engine",
      dependencies: [
        "Patch", "Realtime", "Processors", "Sampler",
        .product(name: "OrderedCollections", package: "swift-collections"),
      ]),
    .target(
      name: "Drivers",
      dependencies: ["Engine", "Midi", "Realtime", "CJack", "CAlsa", "CSndfile", "CThread"]),
    .target(
      name: "Session", dependencies: ["Patch", "PatchLanguage", "Engine", "Drivers", "Midi", "Sampler"]),

    // The screen.
    .target(name: "Screen", dependencies: ["TOMLKit"]),
    .target(name: "CTerminal"),
    .target(name: "Terminal", dependencies: ["Screen", "CNcurses", "CTerminal"]),
    .target(name: "Interface", dependencies: ["Session", "Screen", "TOMLKit"]),

    .executableTarget(
      name: "sostenuto",
      dependencies: [
        "Session", "Interface", "Terminal", "Sampler", "Midi",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // What several test targets use: random edits that shrink, exact frames.
    .target(
      name: "TestSupport", dependencies: ["Engine", "PatchLanguage", "Realtime", "CUnseen"],
      path: "Tests/Support"),
    .target(name: "CUnseen", path: "Tests/CUnseen"),
    .testTarget(name: "MidiTests", dependencies: ["Midi", "TestSupport"]),
    .testTarget(name: "PatchTests", dependencies: ["Patch", "PatchLanguage", "Processors"]),
    .testTarget(name: "RealtimeTests", dependencies: ["Realtime"]),
    .testTarget(name: "ProcessorsTests", dependencies: ["Processors"]),
    .testTarget(name: "SamplerTests", dependencies: ["Sampler", "CSndfile"]),
    .testTarget(name: "EngineTests", dependencies: ["Engine", "PatchLanguage", "Sampler", "TestSupport"]),
    .target(name: "CAudit", path: "Tests/CAudit"),
    .target(name: "CFakeAlsa", path: "Tests/CFakeAlsa"),
    .testTarget(
      name: "DriversTests",
      dependencies: [
        "Drivers", "Engine", "Midi", "PatchLanguage", "Sampler", "CJack", "CAlsa", "CAudit", "CFakeAlsa",
        "Session", "TestSupport",
      ]),
    .testTarget(name: "ScreenTests", dependencies: ["Screen", "Terminal"]),
    .testTarget(name: "InterfaceTests", dependencies: ["Interface"]),
    // A session that a test can kill.
    .executableTarget(
      name: "StormWorker", dependencies: ["Session", "Engine", "PatchLanguage"], path: "Tests/StormWorker"),
    .testTarget(
      name: "SessionTests",
      dependencies: ["Session", "StormWorker", "Engine", "Patch", "PatchLanguage", "Drivers", "TestSupport"]),
    .testTarget(name: "ProgramTests", dependencies: ["sostenuto"]),
  ],
  swiftLanguageModes: [.v6]
)

// `make fuzz` builds with FUZZ=1: what it makes has no `main` of its own, so it stays out otherwise. It plays
// what it reads as the tests do, of which it borrows two files.
if ProcessInfo.processInfo.environment["FUZZ"] == "1" {
  package.targets.removeAll { $0.type == .test }
  package.targets += [
    .target(name: "FuzzDriver", path: "Fuzz/Driver"),
    .executableTarget(
      name: "FuzzReader", dependencies: ["FuzzDriver", "Patch", "PatchLanguage", "Engine"],
      path: "Fuzz/Reader"),
    .executableTarget(
      name: "FuzzFiles", dependencies: ["FuzzDriver", "Patch", "Realtime", "Sampler"], path: ".",
      sources: [
        "Fuzz/Files", "Tests/SamplerTests/Rig.swift", "Tests/SamplerTests/SeededGenerator.swift",
      ]),
    .executableTarget(name: "FuzzMidi", dependencies: ["FuzzDriver", "Midi"], path: "Fuzz/Midi"),
    .executableTarget(
      name: "FuzzSession",
      dependencies: ["FuzzDriver", "Patch", "PatchLanguage", "Engine", "Drivers", "Session"],
      path: "Fuzz/Session"),
    .executableTarget(
      name: "FuzzScreen", dependencies: ["FuzzDriver", "Session", "Screen", "Terminal", "Interface"],
      path: "Fuzz/Screen"),
  ]
}

// `make test FILTER=…` builds the test targets that it names, and what these need.
let wanted = (ProcessInfo.processInfo.environment["SOSTENUTO_TESTS"] ?? "").split(separator: " ").map(
  String.init)
if !wanted.isEmpty {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
  if !wanted.contains("ProgramTests") { package.targets.removeAll { $0.name == "sostenuto" } }
  if Set(wanted).isDisjoint(with: ["ProgramTests", "InterfaceTests"]) {
    package.targets.removeAll { $0.name == "Interface" }
  }
}

// `make test` and the other checks build with STRICT=1.
if ProcessInfo.processInfo.environment["STRICT"] == "1" {
  for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-warnings-as-errors"])]
  }
}
