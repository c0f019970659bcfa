/// Reason why an edit is refused. `EditError+Words.swift` has the words for it.
public enum EditError: Error, Hashable, Sendable {
  // MARK: Nodes

  /// No node has that name; `near` is one that may be meant.
  case noNode(String, near: String? = nil)
  /// No kind has that name; `near` is one that may be meant.
  case noKind(String, near: String? = nil)
  /// A warning: the node stays in the patch without sound.
  case placeholder(String, kind: String, near: String? = nil)
  /// A warning: a scene keeps its line about a node in the file of that sub-patch, which is not there.
  case waitsForFile(String, of: String)
  /// A warning: a scene keeps its line about a node that the file of a sub-patch does not have.
  case waitsForNode(String, in: String)
  /// A name that the language does not allow.
  case invalidName(String, NodeName.Fault)
  /// Another node has that name; `isNew`: a node was to be added.
  case nodeExists(String, isNew: Bool)
  /// Another node has the identity of that node.
  case identityTaken(String)
  /// A node was to be moved before itself.
  case beforeItself(String)
  /// A matrix edit of a node that is no matrix.
  case noMatrix(String, kind: String)
  /// A player edit of a node of another kind.
  case noPlayer(String, kind: String)
  /// Notes for a node that plays none.
  case noInstrument(String, kind: String)
  /// A recording that cannot begin, with the reason.
  case notRecorded(String)
  /// It has no line for its place in the file.
  case noPlace(String)
  /// A place outside of the graph view.
  case placeOutOfRange(Place)

  // MARK: Cables

  /// No cable joins these two ports.
  case noCable(CableName)
  /// No cable leads to this node or from it.
  case noCables(String)
  /// Several cables join these nodes, so their ports must be named.
  case severalCables(CableName, count: Int)
  /// A warning: the cable has several lines in the file.
  case connectedAlready(CableName)
  /// The node has no such port on that side; `known`: those that it has.
  case noPort(PortName, Side, known: [String])
  /// No ports of that side but parameters.
  case noPorts(String, kind: String, Side, parameters: [String])
  /// Audio to events, or events to audio; the ports are named as far as they are certain.
  case mismatch(CableName, from: PortName, sends: Set<Signal>, to: PortName, takes: Set<Signal>)
  /// A node of that kind cannot stand in the cable, which carries that signal.
  case cannotStand(kind: String, in: CableName, Signal)
  /// Decibels.
  case gainOutOfRange(Double)
  /// A channel map that is too long, or names a channel beyond the 64.
  case mapOutOfRange(ChannelMap)
  /// The output has this many channels, and the map names another.
  case noChannel(Int, of: PortName, count: Int)
  /// A cable of events with a gain, a map or a mix.
  case carriesEvents(CableName)
  /// A cable to or from another program at a node that has no ports towards other programs there.
  case leadsOutside(CableName, inner: String)
  /// A depth in a unit that the parameter cannot be moved in, or beyond its bounds.
  case noDepth(Value, of: PortName, [Unit])
  /// An offset in a unit of another sort than the depth beside it, or beyond its bounds.
  case noOffset(Value, beside: Value, [Unit])
  /// A depth at a port that is no parameter's.
  case modulatesNothing(PortName)
  /// A connection of two programs with a gain.
  case hasNoGain(CableName)

  // MARK: Settings

  /// The kind has no such parameter; `known`: those that it has.
  case noParameter(SettingName, kind: String, known: [String])
  /// The setting wants another number of indices, as many as `example` has.
  case indexCount(SettingName, example: SettingName)
  /// An index beyond the size of its dimension.
  case indexOutOfRange(SettingName, dimension: String, count: Int)
  /// A range without an end, of a node whose kind is unknown.
  case openRange(SettingName, kind: String)
  /// The setting does not take the value.
  case invalidValue(Value, SettingName, ValueFault)
  /// The setting has its default, so there is nothing to remove.
  case notSet(SettingName)
  /// The setting cannot change over time.
  case noChangeOverTime(SettingName)
  /// Seconds.
  case durationOutOfRange(Double)
  /// So many more settings of one node are wrong.
  case moreSettings(Int)
  /// `before` in a file.
  case orderInFile

  /// Beats a minute.
  case tempoOutOfRange(Double)
  /// A bar without beats, with too many, or of an unknown note value.
  case meterOutOfRange(Meter)
  /// There is no control of that number.
  case noControl(Int)
  /// There is no scene of that number; `known`: those that there are.
  case noScene(Int, known: [Int])
  /// No value of the patch moves between these two scenes.
  case nothingBetween(Morph)
  /// A place that is not between the two scenes, in percent.
  case morphOutOfRange(Double)
  /// Scenes have other numbers.
  case sceneOutOfRange(Int)
  /// An edit of something that is no part of a scene; its verb.
  case notInScene(String)
  /// A setting that has no steps: a file, a text, or the size of a node.
  case notTurned(SettingName)
  /// No parameter is published by that name.
  case notPublished(String)
  /// A cable between inside and outside of a sub-patch, past its inlets and outlets; the sub-patch's path.
  case crossesBoundary(CableName, of: String)
  /// The cable would lead events back to where they come from.
  case closesLoop(CableName)
  /// Two nodes that are not in the same sub-patch.
  case notTogether(String, String)
  /// An inlet or an outlet that would go into a sub-patch of its own patch.
  case isEdge(String)
  /// No sub-patch has that path.
  case noSubPatch(String)
  /// A name in another sub-patch than the node or the cable is in; `here`: the name that it may have.
  case otherSubPatch(String, here: String)
  /// A sub-patch that has itself inside; the paths of the files on the way.
  case isInsideItself([String])
  /// The patch would have too many nodes with all that the sub-patch of that name has inside.
  case tooManyNodes(String)
  /// There is no such map.
  case noMap(MapName)
  /// The source of a map has no events to hand out.
  case handsOutNothing(String, kind: String)
  /// A map tells a node that does not send to the driver.
  case noEcho(String, kind: String)
  /// Equal ratios between ends that are not both above zero.
  case noRatio(MapName)
  /// The target has no end of its own.
  case needsRange(MapName)

  // MARK: Matrices and channel maps

  /// A diagonal outside of the matrix.
  case diagonalOutOfRange(Int, rows: Int, columns: Int)
  /// The map has more entries than the matrix has outputs.
  case mapTooLong(ChannelMap, outputs: Int)
  /// The map of a matrix names an input that it does not have.
  case noMapInput(Int, of: String, count: Int)
  /// The matrix has no input or output of that number.
  case noMatrixPort(Int, of: String, Side, count: Int)
  /// A channel map, edited as a grid, cannot hold that.
  case needsMatrix(MatrixNeed)
  /// The master of a matrix has no such switch.
  case noMasterSwitch(String)

  /// Direction of a port.
  public enum Side: String, Hashable, Sendable {
    /// Direction.
    case input, output
  }

  /// Type of a signal.
  public enum Signal: String, Hashable, Sendable {
    /// Type.
    case audio, events
  }

  /// Reason why a parameter does not take a value.
  public enum ValueFault: Hashable, Sendable {
    /// One value is wanted.
    case isList
    /// Lists hold numbers only.
    case isTextList
    /// At most 64 values.
    case isListTooLong
    /// A number in this unit is wanted.
    case isNoNumber(Unit)
    /// A whole number is wanted.
    case isFraction
    /// `on` or `off` is wanted.
    case isNoToggle
    /// One of these words is wanted.
    case isNoChoice([String])
    /// Written in a unit from which there is no conversion; `range` in words.
    case isInUnit(Unit, wanted: Unit, range: String)
    /// `range` in words.
    case isOutOfRange(String)
    /// The length of a note is `present` at the patch's tempo; both in words.
    case isOutOfRangeAtTempo(String, present: String)
    /// A text that its reader refuses.
    case isUnreadable(TextReader.Fault)
  }

  /// Entries that a channel map lacks.
  public enum MatrixNeed: Hashable, Sendable {
    /// Mute, solo or polarity, by that name.
    case aSwitch(String)
    /// An output that sums several inputs.
    case aSum
    /// A gain for each crosspoint.
    case gains
    /// The node sums its inputs.
    case aSumOf(String)
  }
}

/// One or several settings of a node by name: `dist.drive`, `main[0..3,0]`.
public struct SettingName: Hashable, Sendable, CustomStringConvertible {
  /// Name of the node.
  public var node: String
  /// The settings.
  public var range: ParameterRange

  /// The settings `range` of the node.
  public init(_ node: String, _ range: ParameterRange) {
    self.node = node
    self.range = range
  }

  /// A single setting.
  public init(_ node: String, _ path: ParameterPath) { self.init(node, ParameterRange(path)) }

  /// The name in the language.
  public var description: String { node + range.suffix }
}

extension EditError {
  /// The part of a line that an error is about, for marking its place.
  public enum Part: Hashable, Sendable {
    /// A node by name.
    case node(String)
    /// A kind by name.
    case kind(String)
    /// A port.
    case port(PortName)
    /// A setting, with its node and indices.
    case setting(SettingName)
    /// The parameter's name within a setting.
    case parameter(String)
    /// As written.
    case value(String)
    /// The value of that setting.
    case valueOf(SettingName)
    /// The gain of a cable.
    case gain
    /// A channel map.
    case map
    /// A channel of a map, an input or output of a matrix, or its diagonal.
    case number(Int)
    /// A place in the graph view.
    case place
    /// The time after `over`.
    case duration
    /// A word of the language.
    case word(String)

    /// True when the error is about this part or within it.
    package func covers(_ other: Part) -> Bool {
      if case .setting(let ours) = self, case .setting(let theirs) = other {
        return ours.node == theirs.node && ours.range.covers(theirs.range)
      }
      return self == other
    }
  }

  /// The part of the edit's line that is wrong; nil: all of it.
  public var part: Part? {
    switch self {
    case .noNode(let name, _), .invalidName(let name, _), .nodeExists(let name, _), .identityTaken(let name),
      .noCables(let name), .beforeItself(let name), .noMatrix(let name, _), .noPlayer(let name, _),
      .noInstrument(let name, _),
      .noPlace(let name), .noPorts(let name, _, _, _), .notTogether(let name, _), .noSubPatch(let name),
      .isEdge(let name), .otherSubPatch(let name, _), .tooManyNodes(let name), .waitsForFile(let name, _),
      .waitsForNode(let name, _):
      .node(name)
    case .handsOutNothing(let name, _): .node(name)
    case .noEcho(let name, _): .value(name)
    case .noRatio: .word("curve")
    case .noKind(let kind, _), .placeholder(_, let kind, _), .cannotStand(let kind, _, _): .kind(kind)
    case .notPublished(let name): .value(name)
    case .isInsideItself: .word("node")
    case .crossesBoundary(let name, _), .closesLoop(let name): .port(name.destination)
    case .noCable(let name): .port(name.destination)
    case .severalCables(let name, _): .port(name.source)
    case .noPort(let port, _, _): .port(port)
    case .mismatch(let name, _, _, _, _): .port(name.destination)
    case .noParameter(let name, _, _): .parameter(name.range.name)
    case .indexCount(let name, _), .indexOutOfRange(let name, _, _), .openRange(let name, _),
      .notSet(let name), .notTurned(let name):
      .setting(name)
    case .invalidValue(let value, _, _): .value(value.line)
    case .morphOutOfRange(let percent): .value(Value.number(percent, .percent).line)
    case .tempoOutOfRange(let tempo): .value(Value.number(tempo, .none).line)
    case .meterOutOfRange(let meter): .value(meter.description)
    case .gainOutOfRange: .gain
    case .mapOutOfRange, .mapTooLong: .map
    case .noChannel(let number, _, _), .diagonalOutOfRange(let number, _, _), .noMapInput(let number, _, _),
      .noMatrixPort(let number, _, _, _), .noControl(let number), .noScene(let number, _),
      .sceneOutOfRange(let number):
      .number(number)
    case .placeOutOfRange: .place
    case .durationOutOfRange: .duration
    case .carriesEvents: .word("connect")
    case .leadsOutside(_, let inner): .node(inner)
    case .hasNoGain: .gain
    case .noDepth(let depth, _, _): .value(depth.line)
    case .noOffset(let offset, _, _): .value(offset.line)
    case .modulatesNothing: .word("by")
    case .noChangeOverTime: .word("over")
    case .notInScene(let word): .word(word)
    case .nothingBetween(let morph): .number(morph.from)
    case .orderInFile: .word("before")
    case .connectedAlready, .moreSettings, .noMap, .needsRange, .needsMatrix, .noMasterSwitch, .notRecorded:
      nil
    }
  }
}
