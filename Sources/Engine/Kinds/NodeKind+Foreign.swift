import CKind
import Patch

/// Reason why a kind cannot be added, or a node of it cannot be prepared.
public enum KindError: Error, Hashable, CustomStringConvertible {
  /// There is a kind of that name.
  case nameTaken(String)
  /// Audio ports of such a kind have a number of channels, or a parameter that states it.
  case flexiblePort(String)
  /// A continuous parameter of such a kind is ramped; it smooths others itself (`.kernel`).
  case crossfade(String)
  /// The kind's own reason.
  case preparation(String)

  /// The reason in words.
  public var description: String {
    switch self {
    case .nameTaken(let name): "there is a kind `\(name)` already"
    case .flexiblePort(let name): "the port `\(name)` has no number of channels"
    case .crossfade(let name): "the parameter `\(name)` cannot be crossfaded"
    case .preparation(let reason): reason
    }
  }
}

extension NodeKind {
  /// A kind of C functions, for what is only known at run time. Nodes of it are prepared in the background
  /// (`Engine.background`) and silent until then; a failure makes them placeholders that show the reason.
  public convenience init(_ description: KindDescription, functions: sostenuto_kind) throws(KindError) {
    if let port = (description.inputs + description.outputs).first(where: { $0.format == .flexible }) {
      throw .flexiblePort(port.name)
    }
    if let parameter = description.parameters.first(where: { $0.smoothing == .crossfade }) {
      throw .crossfade(parameter.name)
    }
    self.init(.foreign, ForeignKernel.self, description, program: ForeignProgram(functions))
  }
}
