/// The targets of Package.swift with their declared dependencies, read from its text.
struct Manifest {
  struct Target {
    let name: String
    let folder: String
    /// Targets, and products of packages.
    let dependencies: Set<String>
  }

  let targets: [Target]

  init(_ text: String) {
    var targets: [Target] = []
    for match in text.matches(of: #/\.(?:target|executableTarget|testTarget)\(\s*name: "(\w+)"/#) {
      // Up to the parenthesis that closes the target.
      var depth = 1
      let body = text[match.range.upperBound...].prefix {
        depth += $0 == "(" ? 1 : $0 == ")" ? -1 : 0
        return depth > 0
      }
      let name = String(match.1)
      let path = body.firstMatch(of: #/path: "([^"]+)"/#).map { String($0.1) }
      let isTest = text[match.range].hasPrefix(".testTarget")
      var dependencies: Set<String> = []
      if let start = body.firstRange(of: "dependencies: [") {
        let list = body[start.upperBound...].prefix { $0 != "]" }
        // Of a product the name counts, and not that of its package.
        let names = list.replacing(#/package: "[^"]*"/#, with: "").matches(of: #/"([^"]+)"/#)
        dependencies = Set(names.map { String($0.1) })
      }
      targets.append(
        Target(
          name: name, folder: path ?? "\(isTest ? "Tests" : "Sources")/\(name)", dependencies: dependencies))
    }
    self.targets = targets
  }
}
