// Questions of other modules about a kind, so that none of them knows kinds by name.

extension KindDescription {
  /// Connection of a kind to the driver.
  public enum Endpoint: Sendable, Hashable {
    /// Audio from the driver.
    case input
    /// Audio to the driver.
    case output
    /// Events from a MIDI port of the driver.
    case midi
    /// Events to a MIDI port of the driver.
    case midiOutput
    /// Another program on the driver's server. Its ports are whatever it has, and nothing is rendered.
    case client

    /// True when it has audio channels of the driver.
    public var hasChannels: Bool { self == .input || self == .output }
    /// True when it sends to the driver.
    public var isOutput: Bool { self == .output || self == .midiOutput }
  }

  /// Place of a node at the edge of a sub-patch.
  public struct Boundary: Sendable, Hashable {
    /// Side of the sub-patch.
    public enum Side: Sendable, Hashable {
      /// Its input is outside.
      case inlet
      /// Its output is outside.
      case outlet
    }

    /// Side of the sub-patch.
    public var side: Side
    /// Kind that stands in its place when the sub-patch's file is played alone; nil: the same.
    public var alone: String?

    /// A kind at the edge.
    public init(_ side: Side, alone: String? = nil) {
      self.side = side
      self.alone = alone
    }
  }

  /// Contents of a node's box in the graph.
  public enum Face: Sendable, Hashable {
    /// The settings that differ from the defaults, then others.
    case settings
    /// The held keys; the octave while none is held.
    case keys
    /// One meter: the loudest channel.
    case level
    /// A meter per channel of the first input, or of the first output where there is no input. `labels`:
    /// parameter with the names of the channels.
    case channels(labels: String? = nil)
    /// Frequency response. `bands`: parameter with the number of bands, whose settings begin with `band1.`,
    /// `band2.` and so on; nil: one band, and its frequency below the curve.
    case response(bands: String? = nil)
  }

  /// Loudness of an output beside that of the input, or beside full scale for a source.
  public enum Amplification: Sendable, Hashable {
    /// Never louder, without modulation; or never beyond full scale by much.
    case never
    /// Never louder, or never beyond full scale by much, but by modulation of these parameters.
    case byModulation(of: [String])
    /// Louder where a value of this parameter exceeds 1 (0 dB), and by no other one, modulated or not.
    case by(String)
    /// Louder with some values or inputs.
    case possible
  }

  /// Estimated time of a block of 64 frames in nanoseconds, as measured on one processor. Only the ratios
  /// between kinds matter: nodes are distributed to threads by them.
  public struct Cost: Sendable, Hashable {
    /// Part that does not depend on channels.
    public var base: Double
    /// Part for each channel of the widest port.
    public var perChannel: Double
    /// Part for each pair of an input channel and an output channel.
    public var perCrosspoint: Double

    /// A cost in nanoseconds per block.
    public init(_ base: Double, perChannel: Double = 0, perCrosspoint: Double = 0) {
      self.base = base
      self.perChannel = perChannel
      self.perCrosspoint = perCrosspoint
    }

    /// Nanoseconds per block of a node with these channels of its ports.
    public func nanoseconds(inputs: [Int], outputs: [Int]) -> Double {
      let width = max(outputs.max() ?? 0, inputs.max() ?? 0, 1)
      let crosspoints = (inputs.first ?? 0) * (outputs.first ?? 0)
      return base + perChannel * Double(width) + perCrosspoint * Double(crosspoints)
    }
  }

  /// Position of the parameter that states the channels of a port while a node lives, so that they grow without
  /// interrupting it; nil: they are fixed, or follow the cables alone.
  public func sizeParameter(of port: PortDescription) -> Int? {
    guard case .parameter(let name) = port.format else { return nil }
    return parameters.firstIndex { $0.name == name && $0.smoothing == .kernel }
  }

  /// True when such a port has a channel for each one that a cable brings to this parameter: a source's, with one value a
  /// channel.
  public func isWidened(by parameter: ParameterDescription) -> Bool {
    parameter.isPerChannel && inputs.allSatisfy { $0.isEvents || sizeParameter(of: $0) != nil }
  }

  /// True for other programs, whose cables the driver connects.
  public var isClient: Bool { endpoint == .client }

  /// True when events reach a node, by cable or directly as `note`, `play` and the like.
  public var takesEvents: Bool { inputs.contains(where: \.isEvents) || outputs.contains(where: \.isEvents) }
}

extension PortDescription {
  /// Part that the signal of a port plays.
  public enum Role: Sendable, Hashable {
    /// Signal that the node passes on or makes.
    case main
    /// Signal that only controls others, or that is multiplied with them. A bridge over a removed node leaves
    /// it out.
    case sidechain
    /// Pitch in octaves from A4, 440 Hz: a cable into a frequency of 440 Hz has the depth `by 1oct`.
    case pitch
    /// Above 0 while something is held: what starts and ends envelopes.
    case gate
  }
}

extension ParameterDescription {
  /// Type of a file that a parameter names.
  public enum FileType: Sendable, Hashable {
    /// An instrument or bank.
    case instrument
    /// An audio file, converted to the engine's rate.
    case audio
    /// An audio file that sound is convolved with, converted likewise.
    case impulse
    /// Waves one after the other in an audio file; the node's integer parameter `frames` has the length of one.
    case wavetable
    /// An audio file that is held in memory, converted likewise.
    case sample
    /// A scale of the Scala archive.
    case scale
    /// A key map for a scale.
    case keyMap
    /// A patch.
    case patch
  }

  /// Condition of a parameter's use: another parameter has at least this value.
  public struct Requirement: Sendable, Hashable {
    /// Name of the other parameter, an integer.
    public var parameter: String
    /// Smallest value with which the parameter is used.
    public var least: Int

    /// `parameter` must be `least` or more.
    public init(_ parameter: String, atLeast least: Int) {
      self.parameter = parameter
      self.least = least
    }
  }
}

/// A figure that a node reports while it runs, shown in its box: a gain reduction, a position, a progress.
public struct ReadingDescription: Sendable, Hashable {
  /// Name in the box.
  public var name: String
  /// One sentence for the reference.
  public var summary: String
  /// Unit of the figure.
  public var unit: Unit

  /// A reading; kernels use its position in the description.
  public init(_ name: String, _ summary: String, unit: Unit = .none) {
    self.name = name
    self.summary = summary
    self.unit = unit
  }
}
