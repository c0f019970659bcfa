import Testing

/// Package.swift says what is imported: the compiler would also find what a dependency depends on.
@Suite struct ImportTests {
  private let manifest: Manifest

  init() throws { manifest = Manifest(try Repository.text("Package.swift")) }

  private func sources(of target: Manifest.Target) -> [SourceFile] {
    Repository.sources.filter { $0.path.hasPrefix(target.folder + "/") }
  }

  @Test func everyImportIsADeclaredDependency() {
    let declarable = Set(manifest.targets.flatMap(\.dependencies)).union(manifest.targets.map(\.name))
    #expect(manifest.targets.count > 20)
    for target in manifest.targets {
      let imports = Set(sources(of: target).flatMap(\.imports)).intersection(declarable)
      let missing = imports.subtracting(target.dependencies).subtracting([target.name]).sorted()
      #expect(missing.isEmpty, "\(target.name) imports \(missing): declare them in Package.swift")
    }
  }

  /// Modules in C may be called by the names of their symbols alone.
  @Test func everyDependencyOnAModuleIsImported() {
    for target in manifest.targets where target.folder.hasPrefix("Sources/") {
      let imports = Set(sources(of: target).flatMap(\.imports))
      if imports.isEmpty { continue }
      for name in target.dependencies
      where Repository.files(below: "Sources/\(name)", ending: ".swift").count > 0 {
        #expect(
          imports.contains(name), "\(target.name) does not import \(name): take it out of Package.swift")
      }
    }
  }
}
