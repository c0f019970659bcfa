/// Description of a node kind: printed by `sostenuto kinds`, and used to check edits. It stands beside the
/// kind's kernel, one file per kind. A class, since each look into the catalogue would copy all of a structure's texts and lists.
public final class KindDescription: Sendable, Identifiable {
  /// Group of kinds in the reference.
  public enum Category: String, Sendable, CaseIterable {
    /// A heading of the reference.
    case source, control, effect, mixing, modulation, endpoint
  }

  /// Name in the language.
  public let name: String
  /// One sentence for the reference.
  public let summary: String
  /// Group in the reference.
  public let category: Category
  /// Declared inputs; parameters with ports are not among them.
  public let inputs: [PortDescription]
  /// Outputs in order.
  public let outputs: [PortDescription]
  /// Parameters in order; kernels use these positions.
  public let parameters: [ParameterDescription]
  /// Connection to the driver; nil: none.
  public let endpoint: Endpoint?
  /// Contents of a node's box in the graph.
  public let face: Face
  /// The computer keyboard plays it in play mode.
  public let isKeyboard: Bool
  /// Loudness of the output beside that of the input.
  public let amplification: Amplification
  /// Estimated time of a block.
  public let cost: Cost
  /// Figures that a node reports while it runs.
  public let readings: [ReadingDescription]
  /// Text parameter that holds the saved state of a kind which has more than its settings; nil: none.
  public let stateParameter: String?
  /// The output has the same bits however the frames are split into blocks.
  public let isSplitInvariant: Bool
  /// The latency may change while a node runs, with its parameters or its state.
  public let latencyVaries: Bool
  /// Its nodes go by tempo, meter and place of the transport, so views show it.
  public let goesByTransport: Bool
  /// Place of its nodes at the edge of a sub-patch; nil: they are within it.
  public let boundary: Boundary?
  /// A node of the kind is a sub-patch: other nodes are inside it.
  public let isContainer: Bool

  /// The name.
  public var id: String { name }

  /// A description; ports and parameters in the order of the reference.
  public init(
    name: String, summary: String, category: Category, inputs: [PortDescription] = [],
    outputs: [PortDescription] = [], parameters: [ParameterDescription] = [], endpoint: Endpoint? = nil,
    face: Face = .settings, isKeyboard: Bool = false, amplification: Amplification = .possible,
    cost: Cost = Cost(20, perChannel: 150), readings: [ReadingDescription] = [],
    stateParameter: String? = nil, isSplitInvariant: Bool = true, latencyVaries: Bool = false,
    goesByTransport: Bool = false, boundary: Boundary? = nil, isContainer: Bool = false
  ) {
    self.name = name
    self.summary = summary
    self.category = category
    self.inputs = inputs
    self.outputs = outputs
    self.parameters = parameters
    self.endpoint = endpoint
    self.face = face
    self.isKeyboard = isKeyboard
    self.amplification = amplification
    self.cost = cost
    self.readings = readings
    self.stateParameter = stateParameter
    self.isSplitInvariant = isSplitInvariant
    self.latencyVaries = latencyVaries
    self.goesByTransport = goesByTransport
    self.boundary = boundary
    self.isContainer = isContainer
  }

  /// The same kind with more parameters, behind its own.
  func adding(_ more: [ParameterDescription]) -> KindDescription {
    KindDescription(
      name: name, summary: summary, category: category, inputs: inputs, outputs: outputs,
      parameters: parameters + more, endpoint: endpoint, face: face, isKeyboard: isKeyboard,
      amplification: amplification, cost: cost, readings: readings, stateParameter: stateParameter,
      isSplitInvariant: isSplitInvariant, latencyVaries: latencyVaries, goesByTransport: goesByTransport,
      boundary: boundary, isContainer: isContainer)
  }
}

/// A port of a kind. Audio inputs and outputs are numbered in order, events left out.
public struct PortDescription: Sendable, Hashable {
  /// Signal type and channel count.
  public enum Format: Sendable, Hashable {
    /// Notes, pedals, controllers and their times.
    case events
    /// A fixed number of channels.
    case channels(Int)
    /// Channel count stated by the integer parameter (`inputs` of a matrix); 0: flexible.
    case parameter(String)
    /// Channel count of an input: that of the widest cable into it (1...64). Of an output: that of the first
    /// input.
    case flexible
  }

  /// Name in the language.
  public var name: String
  /// Signal type and channel count.
  public var format: Format
  /// One sentence for the reference.
  public var summary: String
  /// True for an output that most patches leave unconnected: views show it only with a cable.
  public var isOptional: Bool
  /// Part that its signal plays.
  public var role: Role
  /// How far the signal of an output goes; nil: that is not known.
  public var swing: Swing?
  /// The channels of an output are notes and not speakers: one that is added begins anew, and copies no other.
  public var isDiscrete: Bool

  /// A port with its format.
  public init(
    _ name: String, _ format: Format, _ summary: String = "", isOptional: Bool = false, role: Role = .main,
    swing: Swing? = nil, isDiscrete: Bool = false
  ) {
    self.name = name
    self.format = format
    self.summary = summary
    self.isOptional = isOptional
    self.role = role
    self.swing = swing
    self.isDiscrete = isDiscrete
  }

  /// Ends of a signal that moves parameters.
  public enum Swing: Sendable, Hashable {
    /// From -1 to 1; from 0 to 1.
    case bipolar, unipolar
    /// As a choice of the node says, by these words.
    case choice(String)
  }

  /// True for events, false for audio.
  public var isEvents: Bool { format == .events }
}

/// A parameter of a kind.
public struct ParameterDescription: Sendable {
  /// Type of a parameter's value.
  public enum Form: Sendable, Hashable {
    /// A number in `range`, in `unit`.
    case continuous
    /// A whole number in `range`.
    case integer
    /// `on` or `off`.
    case toggle
    /// One of these words; the kernel sees its index.
    case choice([String])
    /// A file of this type, relative to the patch's folder.
    case file(FileType)
    /// Any text.
    case text
  }

  /// The way in which a change becomes audible.
  public enum Smoothing: Sendable, Hashable {
    /// A `Ramp` per element; the kernel reads a `ParameterStream`. The parameter is also an audio input port.
    case ramp
    /// Crossfade between the results for the old and the new value; the kernel reads a `CrossfadeStream`.
    case crossfade
    /// Delivered to `Kernel.set`; the kernel smooths it (a matrix's thousands of gains). See
    /// `ParameterDescription.isModulatedByKernel`.
    case kernel
    /// A toggle among the `switches` of a gain: it moves that gain, and kernels do not see it.
    case gain
    /// A change creates a new kernel, which is crossfaded with the old one (channel counts, room sizes).
    case structural
    /// Not passed to kernels (a file, a label): the session or the driver uses it.
    case none
  }

  /// Name in the language; empty for crosspoints.
  public var name: String
  /// One sentence for the reference.
  public var summary: String
  /// Type of the value.
  public var form: Form
  /// Unit of a number.
  public var unit: Unit
  /// Range of a number, in `unit`.
  public var range: ClosedRange<Double>
  /// Default value.
  public var defaultValue: Value
  /// Default of a two-dimensional parameter where both indices are equal, if it differs (a new matrix passes
  /// input i to output i).
  public var diagonalValue: Value?
  /// The way in which a change becomes audible.
  public var smoothing: Smoothing
  /// Names of the integer parameters that give the size of each index: `["inputs"]` for `in[i]`, `["inputs",
  /// "outputs"]` for a crosspoint; empty for a plain parameter.
  public var dimensions: [String]
  /// True when a list may give one value per channel.
  public var isPerChannel: Bool
  /// The toggles that act on this gain, element by element.
  public var switches: GainSwitches?
  /// Condition of use; nil: always in use.
  public var requirement: Requirement?
  /// Converter of a text into numbers for the kernel; nil: a text is not for kernels.
  public var reader: TextReader?
  /// Name of the parameter that is added to it and glides: a cable to this one's port goes to that one's. nil: none does.
  public var glide: String?
  /// Each element is an audio input port, named by its path (`in[0]`, `[0,1]`). The kernel, which smooths it, adds what cables
  /// bring: `Block.modulations` has the elements that are connected, and the others cost nothing.
  public var isModulatedByKernel = false
  /// A rate whose cycles begin with the transport's notes where it is given as a note: `Kernel.set` gets the length in whole
  /// notes, or 0.
  public var isInPhase = false
  /// Its values are orders, which are carried out once. Undo of an edit does not give the order before again, but takes back
  /// what was ordered: `Kernel.set` gets -1.
  public var isOrder = false

  /// Type of the file that it names; nil: it names none.
  public var fileType: FileType? {
    if case .file(let type) = form { type } else { nil }
  }

  /// The default of the element at `indices`.
  public func defaultValue(at indices: [Int]) -> Value {
    guard let diagonalValue, indices.count == 2, indices[0] == indices[1] else { return defaultValue }
    return diagonalValue
  }

  /// A parameter; kernels use its position in the description.
  public init(
    _ name: String, _ summary: String, form: Form = .continuous, unit: Unit = .none,
    range: ClosedRange<Double> = 0...1, default defaultValue: Value, smoothing: Smoothing = .ramp,
    dimensions: [String] = [], isPerChannel: Bool = false, diagonal diagonalValue: Value? = nil,
    switches: GainSwitches? = nil, requirement: Requirement? = nil, reader: TextReader? = nil
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
    self.requirement = requirement
    self.reader = reader
  }
}

/// A set of known kinds.
public struct KindCatalogue: Sendable {
  /// The kinds in the order of the reference.
  public let kinds: [KindDescription]
  /// Files of sub-patches; nil: they are not read.
  public var definitions: (any DefinitionSource)?
  private let byName: [String: Int]

  /// A catalogue of kinds with different names.
  public init(_ kinds: [KindDescription]) {
    self.kinds = kinds
    byName = Dictionary(uniqueKeysWithValues: kinds.enumerated().map { ($1.name, $0) })
  }

  /// The kind of that name.
  public subscript(_ name: String) -> KindDescription? { byName[name].map { kinds[$0] } }

  /// True if a kind has that name.
  func has(_ name: String) -> Bool { byName[name] != nil }
}
