import Patch

extension Patch {
  /// The maps to a target, in the order of the file; a cable by whatever name of its ports.
  func maps(to target: ControlTarget) -> [MapName] {
    settings.maps.keys.filter { $0.target == target }.sorted()
  }

  /// Settings of a node that maps move.
  func mapped(of node: String) -> Set<ParameterPath> {
    var found: Set<ParameterPath> = []
    for name in settings.maps.keys {
      if case .setting(node, let path) = name.target { found.insert(path) }
    }
    return found
  }
}
