import Patch
import Realtime

/// The node kinds that an engine can run: a value, given to a session and its engine. Kinds can be added while
/// the engine runs (`Engine.add`).
public struct KindRegistry: Sendable {
  /// The kinds in the order of the reference.
  public private(set) var kinds: [NodeKind] = []
  /// Their descriptions, for the document.
  public private(set) var catalogue = KindCatalogue([])
  private var byName: [String: NodeKind] = [:]

  /// The program's own kinds: those of `KernelTag.apply`, in its order. Numbers may be left out.
  public static let builtIn = KindRegistry(
    (1..<UInt8.max).compactMap { number in
      let tag = KernelTag(number: number)
      return tag.apply(Describe(tag: tag))
    })

  /// A registry of kinds with different names.
  init(_ kinds: [NodeKind]) {
    self.kinds = kinds
    catalogue = KindCatalogue(kinds.map(\.description))
    byName = Dictionary(uniqueKeysWithValues: kinds.map { ($0.description.name, $0) })
  }

  /// Adds a kind with a name of its own, at the end.
  public mutating func add(_ kind: NodeKind) throws(KindError) {
    if byName[kind.description.name] != nil { throw .nameTaken(kind.description.name) }
    self = KindRegistry(kinds + [kind])
  }

  /// The kind of that name.
  public subscript(name: String) -> NodeKind? { byName[name] }
}

/// Makes a kind of a kernel type. nil: it describes no kind.
private struct Describe: KernelVerb {
  let tag: KernelTag

  func callAsFunction<K: Kernel>(_ type: K.Type) -> NodeKind? {
    (K.description as? KindDescription).map { NodeKind(tag, K.self, $0) }
  }
}
