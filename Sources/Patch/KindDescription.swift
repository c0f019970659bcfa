/// What a node kind is, as `sostenuto kinds` prints it and as edits are checked against it. It stands
/// beside the kind's kernel, one file a kind.
public struct KindDescription: Sendable, Identifiable {
  public enum Category: String, Sendable, CaseIterable {
    case source, control, effect, mixing, modulation, endpoint
  }

  public var name: String
  public var summary: String
  public var category: Category
  public var inputs: [PortDescription]
  public var outputs: [PortDescription]
  public var parameters: [ParameterDescription]

  public var id: String { name }

  public init(
    name: String, summary: String, category: Category, inputs: [PortDescription] = [],
    outputs: [PortDescription] = [], parameters: [ParameterDescription] = []
  ) {
    self.name = name
    self.summary = summary
    self.category = category
    self.inputs = inputs
    self.outputs = outputs
    self.parameters = parameters
  }
}

/// A port of a kind. Audio inputs and outputs are numbered in their order, events left out.
public struct PortDescription: Sendable, Hashable {
  public enum Format: Sendable, Hashable {
    case events
    /// Always so many channels.
    case channels(Int)
    /// As many as the integer parameter says (`inputs` of a matrix).
    case parameter(String)
    /// An input: as many as the widest cable into it (1...64). An output: as many as the first input.
    case flexible
  }

  public var name: String
  public var format: Format
  public var summary: String
  /// An output that most patches leave alone: views show it where something is connected.
  public var isOptional: Bool

  public init(_ name: String, _ format: Format, _ summary: String = "", isOptional: Bool = false) {
    self.name = name
    self.format = format
    self.summary = summary
    self.isOptional = isOptional
  }

  public var isEvents: Bool { format == .events }
}

/// A parameter of a kind.
public struct ParameterDescription: Sendable {
  public enum Form: Sendable, Hashable {
    /// A number in `range`, in `unit`.
    case continuous
    case integer
    /// `on` or `off`.
    case toggle
    /// One of these words; the kernel sees its position.
    case choice([String])
    /// A file, relative to the patch's folder.
    case file
    case text
  }

  /// How a change reaches the sound.
  public enum Smoothing: Sendable, Hashable {
    /// A `Ramp` on each element; the kernel reads a `ParameterStream`. Also an audio input port.
    case ramp
    /// Old and new are computed while one fades into the other; the kernel reads a `CrossfadeStream`.
    case crossfade
    /// Delivered to `Kernel.set`, which smooths by itself (a matrix's thousands of gains).
    case kernel
    /// A toggle among the `switches` of a gain: it moves that gain, and no kernel sees it itself.
    case gain
    /// Changing it makes a new kernel that is crossfaded with the old (channel counts, room sizes).
    case structural
    /// No kernel sees it (a file, a label): the session or the driver does.
    case none
  }

  public var name: String
  public var summary: String
  public var form: Form
  public var unit: Unit
  public var range: ClosedRange<Double>
  public var defaultValue: Value
  /// With two dimensions: the default where both indices are equal, if it is another one (a new
  /// matrix passes input i to output i).
  public var diagonalValue: Value?
  public var smoothing: Smoothing
  /// Names of the integer parameters that give the size of each index: `["inputs"]` for `in[i]`,
  /// `["inputs", "outputs"]` for a crosspoint; empty for a plain parameter.
  public var dimensions: [String]
  /// Whether a list gives one value a channel.
  public var isPerChannel: Bool
  /// The toggles that act on this gain, element by element.
  public var switches: GainSwitches?

  /// The default of the element at `indices`.
  public func defaultValue(at indices: [Int]) -> Value {
    guard let diagonalValue, indices.count == 2, indices[0] == indices[1] else { return defaultValue }
    return diagonalValue
  }

  public init(
    _ name: String, _ summary: String, form: Form = .continuous, unit: Unit = .none,
    range: ClosedRange<Double> = 0...1, default defaultValue: Value, smoothing: Smoothing = .ramp,
    dimensions: [String] = [], isPerChannel: Bool = false, diagonal diagonalValue: Value? = nil,
    switches: GainSwitches? = nil
  ) {
    self.name = name
    self.summary = summary
    self.form = form
    self.unit = unit
    self.range = range
    self.defaultValue = defaultValue
    self.smoothing = smoothing
    self.dimensions = dimensions
    self.isPerChannel = isPerChannel
    self.diagonalValue = diagonalValue
    self.switches = switches
  }
}

/// The kinds that a program knows.
public struct KindCatalogue: Sendable {
  public let kinds: [KindDescription]
  private let byName: [String: Int]

  public init(_ kinds: [KindDescription]) {
    self.kinds = kinds
    byName = Dictionary(uniqueKeysWithValues: kinds.enumerated().map { ($1.name, $0) })
  }

  public subscript(_ name: String) -> KindDescription? { byName[name].map { kinds[$0] } }
}
