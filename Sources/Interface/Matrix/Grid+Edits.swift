import Patch

/// Edits of the matrix screen, the same as a line at the prompt would make.
extension Grid {
  /// The edit that sets the gains of these cells, in decibels; throws if a map cannot express it.
  func setting(_ gains: [(cell: GridCell, gain: Double)]) throws(EditError) -> Edit {
    switch subject {
    case .matrix(let node):
      let edits = gains.map {
        Edit.set(node.name, Self.path($0.cell), .number($0.gain, .decibels), over: nil)
      }
      return edits.count == 1 ? edits[0] : .all(edits)
    case .cable(let cable, let cableName):
      if let master = gains.first, master.cell == .master {
        return .connect(cableName, cable.settings.with(gain: master.gain))
      }
      let map = try map(with: gains)
      return .connect(cableName, cable.settings.with(map: map))
    }
  }

  /// The edit that sets all cells of a range to one gain.
  func setting(_ range: GridRange, to gain: Double) throws(EditError) -> Edit {
    guard let node else { return try setting(range.cells.map { ($0, gain) }) }
    return .setRange(
      node.name, Self.settings(range, of: Self.path(range.first).name), .number(gain, .decibels), over: nil)
  }

  /// Resets the cells to their defaults; a cable as a whole.
  func resetting(_ range: GridRange) -> Edit {
    switch subject {
    case .matrix(let node):
      return .setRange(node.name, Self.settings(range, of: Self.path(range.first).name), nil, over: nil)
    case .cable(let cable, let cableName):
      return range.first == .master
        ? .connect(cableName, cable.settings.with(gain: 0))
        : .connect(cableName, cable.settings.with(map: nil))
    }
  }

  /// A switch of a gain.
  enum Switch: String {
    case mute, solo
    case polarity

    func name(_ switches: GainSwitches) -> String {
      switch self {
      case .mute: switches.mute
      case .solo: switches.solo
      case .polarity: switches.invert
      }
    }

    func isOn(_ element: SwitchedGains.Element) -> Bool {
      switch self {
      case .mute: element.isMuted
      case .solo: element.isSoloed
      case .polarity: element.isInverted
      }
    }
  }

  /// The edit that sets a switch of all cells of a range to the opposite of its state at `lead`.
  func turning(
    _ which: Switch, of range: GridRange, as lead: GridCell, _ catalogue: KindCatalogue
  ) throws(EditError) -> Edit {
    guard let node, let element = element(lead) else {
      throw .needsMatrix(.aSwitch("\(which)"))
    }
    let parameter = catalogue[node.kind]?[parameter: Self.path(range.first).name]
    guard let switches = parameter?.switches else { throw .noMasterSwitch("\(which)") }
    return .setRange(
      node.name, Self.settings(range, of: which.name(switches)), .text(which.isOn(element) ? "off" : "on"),
      over: nil)
  }

  /// The settings of that name at the cells of a range.
  private static func settings(_ range: GridRange, of name: String) -> ParameterRange {
    let spans = [range.rows, range.columns].filter { $0.lowerBound >= 0 }
    return ParameterRange(name, spans.map { ParameterRange.Span($0.lowerBound, $0.upperBound) })
  }

  /// New gain of a cell for space: unity if it is silent, otherwise silence. In a map, a channel that is one
  /// of several becomes the only one.
  func toggled(_ cell: GridCell) -> Double {
    if cable != nil, cell.isCrosspoint {
      let sources = sources(of: cell.column)
      return sources.count == 1 && sources[0] == (cell.row, 1) ? -.infinity : 0
    }
    return gain(cell) == -.infinity ? 0 : -.infinity
  }

  /// The gain this many steps of 1 dB away; in a map, one step to unity or to silence.
  func stepped(_ cell: GridCell, from gain: Double, by steps: Int) -> Double {
    if steps == 0 { return gain }
    if cable != nil, cell.isCrosspoint { return steps > 0 ? 0 : -.infinity }
    if gain == -.infinity, steps > 0 {
      return ValueSteps.decibels(ValueSteps.decibels(gain, by: 1), by: Double(steps - 1))
    }
    return ValueSteps.decibels(gain, by: Double(steps))
  }

  /// Largest gain of the cell, in decibels.
  func loudest(_ cell: GridCell, _ catalogue: KindCatalogue) -> Double {
    guard let node else { return cell == .master ? 60 : 0 }
    return catalogue[node.kind]?[parameter: Self.path(cell).name]?.range.upperBound ?? 24
  }

  /// The edit that inserts a matrix of this name with the cable's channel mapping; the cable's gain stays
  /// behind it.
  func becomingMatrix(named name: String) -> Edit? {
    guard case .cable(let cable, let cableName) = subject else { return nil }
    var settings: [ParameterPath: Value] = [
      ParameterPath("inputs"): .number(Double(rows), .none),
      ParameterPath("outputs"): .number(Double(columns), .none),
    ]
    for row in 0..<rows {
      for column in 0..<columns {
        let gain = gain(GridCell(row, column))
        // A new matrix passes input i to output i.
        if gain != (row == column ? 0 : -.infinity) {
          settings[Self.path(GridCell(row, column))] = .number(gain, .decibels)
        }
      }
    }
    let insert = Edit.insert(Node(name: name, kind: "matrix", settings: settings), into: cableName)
    let behind = CableName(PortName(name), cableName.destination)
    let old = cable.settings
    if old.map == nil, old.mixing == .speakers { return insert }
    // Otherwise the cable behind it would apply the map again.
    return .all([insert, .connect(behind, CableSettings(gain: old.gain, modulation: old.modulation))])
  }

  // MARK: Maps

  /// The cable's map after switching these cells on or off.
  private func map(with gains: [(cell: GridCell, gain: Double)]) throws(EditError) -> ChannelMap {
    var heard = (0..<columns).map { sources(of: $0) }
    var taken: Set<Int> = []
    for (cell, gain) in gains where cell.isCrosspoint {
      if gain == 0 {
        guard taken.insert(cell.column).inserted else {
          throw .needsMatrix(.aSum)
        }
        heard[cell.column] = [(cell.row, 1)]
      } else if gain == -.infinity {
        heard[cell.column].removeAll { $0.row == cell.row }
      } else {
        throw .needsMatrix(.gains)
      }
    }
    var entries: [Int] = []
    for column in heard {
      guard column.count <= 1, column.allSatisfy({ $0.factor == 1 }) else {
        throw .needsMatrix(.aSumOf(conversion ?? name))
      }
      entries.append(column.first?.row ?? -1)
    }
    return ChannelMap(entries)
  }
}
