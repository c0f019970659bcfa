/// The words of refusals.
extension EditError: CustomStringConvertible {
  /// The message with its hint, on one line.
  public var description: String { Visible.text(hint.map { "\(message); \($0)" } ?? message) }

  /// The reason.
  public var message: String {
    switch self {
    case .noNode(let name, _): "no node `\(name)`"
    case .noKind(let kind, _): "no kind `\(kind)`"
    case .placeholder(let name, let kind, _): "no kind `\(kind)`: `\(name)` is a placeholder"
    case .waitsForFile(let name, let container):
      "no node `\(name)` without the file of `\(container)`: the line is kept as it is"
    case .waitsForNode(let name, let file):
      "no node `\(name)` in \(file): the line is kept, and counts when the file has one"
    case .invalidName(let name, let fault): fault.words(name)
    case .nodeExists(let name, _): "there is a node `\(name)` already"
    case .identityTaken(let name): "the identity of `\(name)` is taken"
    case .beforeItself(let name): "`\(name)` cannot stand before itself"
    case .noMatrix(let name, let kind): "`\(name)` is no matrix (it is of kind `\(kind)`)"
    case .noPlayer(let name, let kind): "`\(name)` is no player (it is of kind `\(kind)`)"
    case .noInstrument(let name, let kind): "`\(name)` plays no notes (it is of kind `\(kind)`)"
    case .notRecorded(let reason): reason
    case .noPlace(let name): "`\(name)` has no place of its own"
    case .placeOutOfRange: "a place is a column and a row between -9999 and 9999"
    case .noCable(let name): "no cable from `\(name.source)` to `\(name.destination)`"
    case .noCables(let name): "`\(name)` has no cables"
    case .severalCables(let name, let count):
      "\(count) cables go from `\(name.source)` to `\(name.destination)`"
    case .connectedAlready(let name): "`\(name)` is connected already"
    case .noPort(let port, let side, _): "`\(port.node)` has no \(side.rawValue) `\(port.port ?? "")`"
    case .noPorts(let node, let kind, let side, _):
      "`\(node)` has no \(side.rawValue)s (a node of kind `\(kind)`)"
    case .mismatch(_, let from, let sends, let to, let takes):
      "`\(from)` sends \(Self.words(sends)), `\(to)` takes \(Self.words(takes))"
    case .cannotStand(let kind, let cable, let signal):
      "`\(kind)` cannot stand in `\(cable)`: it does not take \(signal.rawValue) and send \(signal.rawValue)"
    case .gainOutOfRange(let gain):
      "a cable's gain is -inf to \(Int(Connect.loudest))dB, not \(Value.number(gain, .decibels).line)"
    case .mapOutOfRange:
      """
      a channel map has 1 to \(Connect.mostChannels) entries, each -1 (none) or a channel from 0 to \
      \(Connect.mostChannels - 1)
      """
    case .noChannel(let channel, let port, _): "`\(port)` has no channel \(channel)"
    case .carriesEvents(let name): "`\(name)` carries events: it has no gain, map or mix"
    case .leadsOutside(_, let inner): "`\(inner)` has no port there for other programs"
    case .noDepth(.number(let number, let unit), let port, let units) where units.contains(unit):
      "`\(Value.number(number, unit).line)` is too far for a cable into `\(port)`"
    case .noDepth(let depth, let port, let units):
      "a cable does not move `\(port)` by `\(depth.line)`; write \(Self.depths(units))"
    case .noOffset(.number(let number, let unit), _, let units) where units.contains(unit) || unit == .none:
      "an offset of `\(Value.number(number, unit).line)` is too far"
    case .noOffset(let offset, let depth, let units):
      "an offset of `\(offset.line)` does not go with `by \(depth.line)`; write \(Self.depths(units))"
    case .modulatesNothing(let port): "`by` is the depth of a modulation, and `\(port)` is no parameter"
    case .hasNoGain(let name): "`\(name)` is a connection of the server's: it has no gain"
    case .noParameter(let name, _, _):
      "`\(name.node)` has no \(name.range.name.isEmpty ? "crosspoints" : "parameter `\(name.range.name)`")"
    case .indexCount(let name, let example):
      switch example.range.spans.count {
      case 0: "`\(name)` takes no index"
      case 1: "`\(name)` wants an index"
      default: "`\(name)` wants two indices"
      }
    case .indexOutOfRange(let name, let dimension, let count): "no `\(name)`: `\(dimension)` is \(count)"
    case .openRange(let name, let kind): "nobody knows how far `\(name)` goes (no kind `\(kind)`)"
    case .invalidValue(let value, let name, let fault): "`\(name)` \(fault.words(value.line))"
    case .notSet(let name): "`\(name)` is not set"
    case .noChangeOverTime(let name): "`\(name)` cannot change over time"
    case .durationOutOfRange: "a change takes 0s to 3600s"
    case .tempoOutOfRange(let tempo):
      "a tempo is 5 to 999 beats a minute, not \(Value.number(tempo, .none).line)"
    case .meterOutOfRange(let meter): "`\(meter)` is not a meter"
    case .noControl(let number): "there is no control \(number)"
    case .noScene(let number, _): "there is no scene \(number)"
    case .sceneOutOfRange(let number): "no scene has the number \(number)"
    case .nothingBetween(let morph):
      "no value of the patch moves between the scenes \(morph.from) and \(morph.to)"
    case .morphOutOfRange(let percent):
      "a place between two scenes is 0% to 100%, not \(Value.number(percent, .percent).line)"
    case .notInScene(let verb): "a scene has no `\(verb)`"
    case .notTurned(let name): "no control can turn `\(name)`"
    case .notPublished(let name): "nothing is published as `\(name)`"
    case .crossesBoundary(let cable, let path):
      "`\(cable)` leads past the edge of `\(path)`"
    case .closesLoop(let cable): "`\(cable)` would lead events round and round"
    case .notTogether(let a, let b): "`\(a)` and `\(b)` are not side by side"
    case .isEdge(let name): "`\(name)` is a port of its patch, and stays at its edge"
    case .otherSubPatch(let name, _): "`\(name)` would be in another sub-patch"
    case .noSubPatch(let path): "`\(path)` is no sub-patch"
    case .tooManyNodes(let name):
      "`\(name)` does not fit: sub-patches fill a patch up to \(Draft.mostNodes) nodes"
    case .isInsideItself(let path): "a sub-patch cannot have itself inside: \(path.joined(separator: " -> "))"
    case .noMap(let name): "there is no map `\(name)`"
    case .handsOutNothing(let name, let kind): "`\(name)` hands out no events (it is of kind `\(kind)`)"
    case .noEcho(let name, let kind): "`\(name)` sends no MIDI (it is of kind `\(kind)`)"
    case .noRatio: "equal ratios need a range above zero"
    case .needsRange(let name): "`\(name.target)` has no end of its own"
    case .moreSettings(let count): "\(count) more of its settings are wrong"
    case .orderInFile: "`before` has no meaning in a file"
    case .diagonalOutOfRange(let offset, let rows, let columns):
      "diagonal \(offset) leaves a matrix of \(rows) x \(columns)"
    case .mapTooLong(let map, let outputs): "a map of \(map.sources.count) outputs for a matrix of \(outputs)"
    case .noMapInput(let number, let name, _): "`\(name)` has no input \(number)"
    case .noMatrixPort(let number, let name, let side, _): "`\(name)` has no \(side.rawValue) \(number)"
    case .needsMatrix(let need): need.words
    case .noMasterSwitch(let name): "the master has no \(name)"
    }
  }

  /// A suggestion: "did you mean `piano`?"
  public var hint: String? {
    switch self {
    case .noNode(_, let near): near.map(Nearest.question)
    case .noKind(_, let near), .placeholder(_, _, let near):
      near.map(Nearest.question) ?? "`sostenuto kinds` lists them"
    case .nodeExists(_, let isNew): isNew ? "choose another name, or `replace` it" : "choose another name"
    case .severalCables: "name their ports"
    case .crossesBoundary(_, let path):
      "a cable from outside leads to an inlet, an outlet or a published parameter of `\(path)`"
    case .closesLoop: "disconnect another cable of the loop first"
    case .connectedAlready: "the last line counts"
    case .noPort(let port, .output, _) where port.port?.utf8.last == UInt8(ascii: "]"):
      "channels are chosen by `map=[…]`"
    case .noPort(let port, let side, let known):
      Nearest.hint(for: port.port ?? "", among: known)
        ?? (known.isEmpty
          ? "it has no \(side.rawValue)s" : "its \(side.rawValue)s: \(known.joined(separator: ", "))")
    case .noPorts(_, _, _, let parameters):
      parameters.isEmpty ? nil : "its parameters are ports by name: \(parameters.joined(separator: ", "))"
    case .mismatch(_, _, let sends, _, _): sends == [.events] ? "events go to nodes that play notes" : nil
    case .noChannel(_, _, let count):
      count == 1 ? "it has channel 0; -1 is none" : "channels go from 0 to \(count - 1), -1 is none"
    case .noParameter(let name, let kind, let known):
      Nearest.hint(for: name.range.name, among: known)
        ?? (known.isEmpty ? nil : "kind `\(kind)` has \(known.joined(separator: ", "))")
    case .leadsOutside: "an `output` sends to other programs, an `input` or `midi` takes from them"
    case .indexCount(_, let example): "write `\(example)`"
    case .indexOutOfRange(_, _, let count): count > 0 ? "indices go from 0 to \(count - 1)" : nil
    case .openRange: "write both ends of the range"
    case .invalidValue(let value, _, .isNoChoice(let words)):
      Nearest.hint(for: value.line, among: words) ?? "it is one of \(words.joined(separator: ", "))"
    case .invalidValue(_, _, .isInUnit(_, _, let range)): "it takes \(range)"
    case .noChangeOverTime: "leave `over` out"
    case .meterOutOfRange: "a bar has 1 to 64 beats of a whole (1) to a 32nd (32), such as `6/8`"
    case .noControl:
      "controls go from \(ControlTarget.numbers.lowerBound) to \(ControlTarget.numbers.upperBound)"
    case .noScene(let number, _) where !PatchScene.numbers.contains(number):
      "scenes go from \(PatchScene.numbers.lowerBound) to \(PatchScene.numbers.upperBound)"
    case .noScene(let number, let known):
      known.isEmpty
        ? "`scene \(number)` stores the present state"
        : "there are \(known.map(String.init).joined(separator: ", ")); `scene \(number)` stores one"
    case .sceneOutOfRange:
      "scenes go from \(PatchScene.numbers.lowerBound) to \(PatchScene.numbers.upperBound)"
    case .notInScene: "it has nodes, their settings, and cables"
    case .notTurned: "a control turns numbers, switches and choices"
    case .handsOutNothing: "nodes of the kinds `midi` and `keyboard` do"
    case .noEcho: "a node of the kind `midiout` does"
    case .noRatio: "write `curve=linear`, or another range"
    case .needsRange: "write its range, such as `0..10`"
    case .notTogether: "they must be in one sub-patch, or all outside"
    case .isEdge: "collapse the others: they get ports of their own"
    case .otherSubPatch(_, let here): "here it is `\(here)`; `copy` and `remove` move a node"
    case .noSubPatch: "a node of the kind `patch` is one"
    case .tooManyNodes: "take sub-patches out of its file, or out of the files that are inside it"
    case .orderInFile: "nodes stand in the order of their lines"
    case .diagonalOutOfRange(_, let rows, let columns): "it goes from \(1 - rows) to \(columns - 1)"
    case .mapTooLong: "it has a value for each output"
    case .noMapInput(_, _, let count): "inputs go from 0 to \(count - 1), -1 is none"
    case .noMatrixPort(_, _, _, let count): "they go from 0 to \(count - 1)"
    case .needsMatrix: "make it a matrix first"
    case .invalidName, .identityTaken, .beforeItself, .noMatrix, .noPlayer, .noInstrument, .noPlace,
      .placeOutOfRange, .noCable, .noCables, .cannotStand, .noDepth, .noOffset, .modulatesNothing,
      .gainOutOfRange,
      .mapOutOfRange, .carriesEvents, .hasNoGain,
      .invalidValue,
      .notSet, .noMap, .notRecorded, .durationOutOfRange, .morphOutOfRange, .nothingBetween, .tempoOutOfRange,
      .moreSettings, .noMasterSwitch, .notPublished, .isInsideItself, .waitsForFile,
      .waitsForNode:
      nil
    }
  }

  private static func words(_ signals: Set<Signal>) -> String {
    signals == [.audio, .events] ? "audio and events" : signals == [.events] ? "events" : "audio"
  }
}

extension NodeName.Fault {
  fileprivate func words(_ name: String) -> String {
    switch self {
    case .isEmpty: "a node needs a name"
    case .hasOtherCharacters: "`\(name)` cannot be a name: letters, digits, `_` and `-` can"
    case .isHidden: "`\(Visible.text(name))` cannot be a name: all of it has to be seen"
    case .hasHyphenAtEnd: "a name cannot begin or end with `-`"
    case .isTooDeep: "a path leads through at most \(NodePath.deepest - 1) sub-patches"
    case .isTooLong: "a name has at most \(NodeName.longest) bytes"
    }
  }
}

extension EditError.ValueFault {
  /// The sentence after the setting's name.
  fileprivate func words(_ value: String) -> String {
    switch self {
    case .isList: "takes one value, not a list"
    case .isTextList: "takes one text, not a list"
    case .isListTooLong: "takes a list of 1 to 64 values, one a channel"
    case .isNoNumber(let unit):
      "takes a number\(unit == .none || unit == .key ? "" : " in \(unit.rawValue)"), not \(value)"
    case .isFraction: "takes a whole number, not \(value)"
    case .isNoToggle: "is `on` or `off`, not \(value)"
    case .isNoChoice: "cannot be \(value)"
    case .isInUnit(let unit, let wanted, _):
      "is counted in \(Self.words(wanted)), not \(unit == .key ? "notes" : unit == .notes ? "lengths of notes" : unit.rawValue)"
    case .isOutOfRange(let range): "takes \(range), not \(value)"
    case .isOutOfRangeAtTempo(let range, let present):
      "takes \(range), and \(value) is \(present) at this tempo"
    case .isUnreadable(let fault): "at character \(fault.column) of its text \(fault.reason)"
    }
  }

  private static func words(_ unit: Unit) -> String {
    switch unit {
    case .none: "a plain number"
    case .key: "a note"
    default: unit.rawValue
    }
  }
}

extension EditError {
  private static func depths(_ units: [Unit]) -> String {
    let examples = units.map { "`\($0.depthExample.line)`" }
    guard let last = examples.last, examples.count > 1 else { return examples.joined() }
    return examples.dropLast().joined(separator: ", ") + " or " + last
  }
}

extension EditError.MatrixNeed {
  fileprivate var words: String {
    switch self {
    case .aSwitch(let name): "a channel map has no \(name)"
    case .aSum: "a channel map gives a channel one source, not a sum"
    case .gains: "a channel map has no gains"
    case .aSumOf(let name): "`\(name)` sums, which a channel map cannot"
    }
  }
}
