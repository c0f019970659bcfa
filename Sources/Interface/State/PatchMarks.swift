import Patch
import Synchronization

/// Mutes, solos, maps and controls of a patch, which boxes and the status line mark.
struct PatchMarks {
  /// Marks of one node or cable.
  struct Marks: Hashable {
    var isMuted = false
    var isSoloed = false
    /// Controllers move something of it.
    var isMapped = false
    /// Numbers of the controls that turn something of it.
    var controls: [Int] = []

    /// Letters and signs, which can be told apart without colours: `M`, `S`, `◂`, `①`.
    var text: String {
      (isMuted ? "M" : "") + (isSoloed ? "S" : "") + (isMapped ? PatchMarks.map : "")
        + controls.map(PatchMarks.control).joined()
    }
  }

  /// Mark of what controllers move.
  static let map = "◂"
  /// Mark of what a control turns, by its number.
  static func control(_ number: Int) -> String {
    Unicode.Scalar(0x245F + UInt32(min(max(1, number), 9))).map { String(Character($0)) } ?? ""
  }

  private(set) var nodes: [NodeID: Marks] = [:]
  private(set) var cables: [Cable.Ends: Marks] = [:]
  /// Names of the nodes with mutes and with solos, in the order of the file.
  private(set) var muted: [String] = []
  private(set) var soloed: [String] = []
  /// Numbers of maps and of controls.
  private(set) var maps = 0
  private(set) var controls = 0

  private init(_ patch: Patch, _ catalogue: KindCatalogue) {
    (maps, controls) = (patch.settings.maps.count, patch.settings.controls.count)
    for node in patch.nodes.values where !node.settings.isEmpty {
      let id = node.id
      for switches in catalogue[node.kind]?.parameters.compactMap(\.switches) ?? [] {
        for (path, value) in node.settings where value == .text("on") {
          if path.name == switches.mute { nodes[id, default: Marks()].isMuted = true }
          if path.name == switches.solo { nodes[id, default: Marks()].isSoloed = true }
        }
      }
      if nodes[id]?.isMuted == true { muted.append(node.name) }
      if nodes[id]?.isSoloed == true { soloed.append(node.name) }
    }
    for name in patch.settings.maps.keys { mark(name.target, patch, catalogue) { $0.isMapped = true } }
    for (number, target) in patch.settings.controls.sorted(by: { $0.key < $1.key }) {
      mark(target, patch, catalogue) { $0.controls.append(number) }
    }
  }

  private mutating func mark(
    _ target: ControlTarget, _ patch: Patch, _ catalogue: KindCatalogue, _ change: (inout Marks) -> Void
  ) {
    switch target {
    case .setting(let name, _):
      if let id = patch.id(named: name) { change(&nodes[id, default: Marks()]) }
    case .gain(let name):
      if let cable = try? patch.existing(name, catalogue: catalogue) {
        change(&cables[cable.ends, default: Marks()])
      }
    case .morph: break
    }
  }

  // MARK: The marks of the present patch

  /// They are asked for with every frame and change with edits only.
  private static let known = Mutex<(revision: Revision, marks: PatchMarks)?>(nil)

  /// Marks of a patch.
  static func of(_ scene: Scene) -> PatchMarks {
    let revision = scene.patch.revision
    if let known = known.withLock({ $0 }), known.revision === revision { return known.marks }
    let marks = PatchMarks(scene.patch, scene.catalogue)
    known.withLock { $0 = (revision, marks) }
    return marks
  }
}
