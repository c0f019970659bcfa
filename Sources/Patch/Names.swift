/// A port by name: `piano`, `comp.sidechain`.
public struct PortName: Hashable, Sendable, CustomStringConvertible {
  /// Name of the node.
  public var node: String
  /// Name of the port; nil: the first fitting one.
  public var port: String?

  /// A port of the node `node`.
  public init(_ node: String, _ port: String? = nil) {
    self.node = node
    self.port = port
  }

  /// The name in the language.
  public var description: String {
    guard let port else { return node }
    if let program { return Quoting.quoted(program + ":" + port) }
    if let path = ParameterPath(line: port), !path.indices.isEmpty,
      path.name.isEmpty || Self.isPlain(path.name)
    {
      return node + path.suffix
    }
    return node + "." + (Self.isPlain(port) ? port : Quoting.quoted(port))
  }

  /// True for a port that needs no quotes: its name has letters, digits, `_`, `-`, `.`, `*` and `?` only.
  private static func isPlain(_ port: String) -> Bool {
    !port.isEmpty
      && port.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
          UInt8(ascii: "*"), UInt8(ascii: "?"):
          true
        default: false
        }
      }
  }
}

/// A cable by the names of its ports: `piano -> dist`.
public struct CableName: Hashable, Sendable, CustomStringConvertible {
  /// The output.
  public var source: PortName
  /// The input.
  public var destination: PortName

  /// A cable between two named ports.
  public init(_ source: PortName, _ destination: PortName) {
    self.source = source
    self.destination = destination
  }

  /// Between the first fitting ports.
  public init(_ source: String, _ destination: String) {
    self.init(PortName(source), PortName(destination))
  }

  /// The cable in the language.
  public var description: String { "\(source) -> \(destination)" }
}

/// The line of the canonical file that a comment belongs to.
public enum Subject: Hashable, Sendable {
  /// First line of a node.
  case node(String)
  /// Line of a cable.
  case cable(CableName)
  /// Line of a setting of the node.
  case setting(String, ParameterPath)
  /// Line of a node's place on the screen.
  case layout(String)
  /// Line of a setting of the patch as a whole.
  case patchSetting(PatchSetting.Name)
  /// First line of a scene.
  case scene(Int)
  /// The lines at the head of the file; only `Comments.before` is used.
  case header
  /// The lines at the end of the file; only `Comments.before` is used.
  case footer
}

/// Rules for names of nodes.
public enum NodeName {
  /// Maximum length in characters.
  public static let longest = 64

  /// Reason why a name is invalid.
  public enum Fault: Hashable, Sendable {
    /// It has no characters, others than letters, digits, `_` and `-`, invisible ones, a hyphen at an end, too many, or
    /// leads through too many sub-patches.
    case isEmpty, hasOtherCharacters, isHidden, hasHyphenAtEnd, isTooLong, isTooDeep
  }

  /// A free name that continues the numbers of `name`: `dist2` for `dist`, `dist3` for `dist2`.
  public static func free(like name: String, isTaken: (String) -> Bool) -> String {
    let path = NodePath.container(of: name).map { $0 + "/" } ?? ""
    guard path.isEmpty else {
      return path + free(like: String(NodePath.last(of: name))) { isTaken(path + $0) }
    }
    let stem = name.prefix(name.count - name.reversed().prefix { ("0"..."9").contains($0) }.count)
    let digits = name[stem.endIndex...]
    // Digits alone are no number of anything.
    let base = stem.isEmpty ? name[...] : stem
    var number = stem.isEmpty ? 2 : (Int(digits) ?? 1) + 1
    while true {
      let end = String(number)
      var start = base
      while start.utf8.count + end.utf8.count > longest { start = start.dropLast() }
      if !isTaken(start + end) { return start + end }
      number += 1
    }
  }

  /// Reason why `name` is invalid; nil if it is valid.
  public static func fault(in name: String) -> Fault? {
    guard name.utf8.contains(UInt8(ascii: "/")) else { return fault(inPart: name[...]) }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count > NodePath.deepest { return .isTooDeep }
    return parts.lazy.compactMap(fault(inPart:)).first
  }

  private static func fault(inPart name: Substring) -> Fault? {
    if name.isEmpty { return .isEmpty }
    var count = 0
    var isPlain = true
    for byte in name.utf8 {
      count += 1
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): continue
      case 0x80...: isPlain = false
      default: return .hasOtherCharacters
      }
    }
    if !isPlain, name.unicodeScalars.contains(where: { $0.properties.isWhitespace || Visible.isHidden($0) }) {
      return .isHidden
    }
    if name.hasPrefix("-") || name.hasSuffix("-") { return .hasHyphenAtEnd }
    if count > longest { return .isTooLong }
    return nil
  }
}

extension ParameterPath {
  /// The path in the language, after a node's name: `.drive`, `.in[0]`, `[0,1]`.
  public var suffix: String { name.isEmpty ? line : "." + line }

  /// `drive`, `in[0]`, `[0,1]`.
  public var line: String {
    indices.isEmpty ? name : name + "[" + indices.map(String.init).joined(separator: ",") + "]"
  }

  /// The path that has this line; nil: no path has.
  public init?(line: String) {
    guard line.utf8.last == UInt8(ascii: "]") else {
      self.init(line)
      return
    }
    guard let open = line.firstIndex(of: "[") else { return nil }
    let numbers = line[line.index(after: open)...].dropLast().split(
      separator: ",", omittingEmptySubsequences: false)
    let indices = numbers.compactMap { Int($0) }
    self.init(String(line[..<open]), indices)
    if self.line != line || indices.contains(where: { $0 < 0 }) { return nil }
  }
}

extension Node {
  /// A node without an identity: adding it to a patch assigns one.
  public init(name: String, kind: String, settings: [ParameterPath: Value] = [:]) {
    self.init(id: NodeID(raw: 0), name: name, kind: kind, settings: settings)
  }

  func with(id: NodeID) -> Node {
    var node = Node(id: id, name: name, kind: kind, settings: settings, place: place, comments: comments)
    node.lineComments = lineComments
    return node
  }
}
