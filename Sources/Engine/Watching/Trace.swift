import Glibc
import Patch

/// One entry of the lifecycle trace: what the engine did to a node, and when.
public struct TraceEntry: Sendable, Identifiable {
  /// An event of a node's life.
  public enum Happening: Sendable, Hashable {
    /// Memory for its state was taken.
    case allocated(bytes: Int)
    /// Its kernel was made.
    case prepared
    /// Its first block was rendered.
    case started
    /// A note began.
    case noteOn(key: UInt8, velocity: Int)
    /// A key was released.
    case noteOff(key: UInt8)
    /// The sustain pedal went down or up.
    case pedal(Bool)
    /// It fades in.
    case fadingIn(seconds: Double)
    /// It fades out, to be removed.
    case fadingOut(seconds: Double)
    /// It left the patch and is heard until it is silent.
    case ringingOut
    /// No plan from this one on has it.
    case retired(plan: Int)
    /// Its memory was freed.
    case freed
    /// It plays another file.
    case loaded(String)
    /// The blast shield muted it, for this reason.
    case muted(String)
    /// An edit ended its muting.
    case revived
    /// Its state began anew.
    case reset
    /// It passes nothing, as the system has not the memory that it needs.
    case lacking(String)
    /// A file or a port could not be had, for this reason.
    case failed(String)
    /// An edit, with its effect on the sound.
    case edited(EditEntry)
  }

  /// Serial number, from 0.
  public var id: Int
  /// Engine time, frames.
  public var time: Int64
  /// nil for an edit, which concerns the whole patch.
  public var node: NodeID?
  /// The node's name at that time; empty for an edit.
  public var name: String
  /// The event itself.
  public var happening: Happening

  /// An entry with its serial number.
  public init(id: Int, time: Int64, node: NodeID?, name: String, happening: Happening) {
    self.id = id
    self.time = time
    self.node = node
    self.name = name
    self.happening = happening
  }
}

/// The lifecycle trace: the latest entries, with serial numbers.
public struct TraceLog: Sendable {
  static let capacity = 20_000
  private var entries: [TraceEntry] = []
  private var nextID = 0

  init() { entries.reserveCapacity(2 * Self.capacity + 1) }

  mutating func record(_ edit: EditEntry) { record(.edited(edit), nil, "", at: edit.time) }

  mutating func record(_ happening: TraceEntry.Happening, _ node: NodeID?, _ name: String, at time: Int64) {
    entries.append(TraceEntry(id: nextID, time: time, node: node, name: name, happening: happening))
    nextID += 1
    if entries.count > 2 * Self.capacity { entries.removeFirst(Self.capacity) }
  }

  func entries(since id: Int) -> [TraceEntry] {
    guard let first = entries.first?.id else { return [] }
    return Array(entries.dropFirst(max(0, id - first)))
  }
}

extension TraceEntry.Happening {
  /// nil for records that are not part of the trace.
  init?(_ record: TraceRecord) {
    if record.isBlast {
      self = .muted(Blast.words(record.value))
      return
    }
    switch record.kind {
    case .noteOn: self = .noteOn(key: record.key, velocity: Int(record.value))
    case .noteOff: self = .noteOff(key: record.key)
    case .control where record.key == 64: self = .pedal(record.value >= 64)
    default: return nil
    }
  }
}

/// Description of the output that triggered the blast shield.
enum Blast {
  /// `not a number`, `infinity`, `+104 dBFS`.
  static func words(_ value: Float) -> String {
    if value.isNaN { return "not a number" }
    return value.isInfinite ? "infinity" : "+\(Int(20 * log10(Double(value)))) dBFS"
  }
}
