import Engine
import Patch
import PatchLanguage
import Realtime

/// A patch and its undo history, edited by lines of the language as in a session.
public struct Draft {
  public private(set) var patch: Patch
  public private(set) var history: History

  public enum Outcome {
    /// An edit, an undo or a redo.
    case edited(Change)
    case performed(Performance)
    /// Legal, and without effect.
    case unchanged
    /// Not legal here.
    case refused
  }

  public init(_ patch: Patch, history: History = History()) {
    self.patch = patch
    self.history = history
  }

  /// Reads a patch file's text without its first line.
  public init(_ text: String) throws {
    let read = PatchReader.read(
      "sostenuto 1\n" + text, file: "draft", catalogue: KindRegistry.builtIn.catalogue)
    if let fault = read.diagnostics.first { throw fault }
    self.init(read.patch)
  }

  public mutating func perform(_ line: String) -> Outcome {
    let catalogue = KindRegistry.builtIn.catalogue
    guard let statement = try? StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
      return .refused
    }
    if case .perform(let performance) = statement { return .performed(performance) }
    do {
      guard let change = try change(statement) else { return .unchanged }
      patch = change.patch
      return .edited(change)
    } catch {
      return .refused
    }
  }

  private mutating func change(_ statement: Statement) throws -> Change? {
    switch statement {
    case .edit(let edit):
      let change = try patch.applying(edit, catalogue: KindRegistry.builtIn.catalogue)
      // An order that is given again leaves the patch as it is.
      guard change.patch != patch || !change.ramps.isEmpty else { return nil }
      history.record(change, describing: edit.line, catalogue: KindRegistry.builtIn.catalogue)
      return change
    case .undo: return try history.undo(patch, catalogue: KindRegistry.builtIn.catalogue)?.change
    case .redo: return try history.redo(patch, catalogue: KindRegistry.builtIn.catalogue)?.change
    default: throw Unsupported()
    }
  }

  /// A statement for a session, not for a patch.
  private struct Unsupported: Error {}
}

extension Event {
  /// Notes and pedals of the language; nil for all other events.
  public init?(_ event: Performance.Event) {
    switch event {
    case .noteOn(let key, let velocity): self.init(.noteOn, key: UInt8(key), value: Float(velocity))
    case .noteOff(let key): self.init(.noteOff, key: UInt8(key))
    case .pedal(.sustain, let isDown): self.init(.control, key: 64, value: isDown ? 127 : 0)
    default: return nil
    }
  }
}
