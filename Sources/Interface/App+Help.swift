import Screen

/// Key help for the views, generated from the action table and the keymap.
extension App {
  /// Everything for the help screen.
  func helpSections() -> [HelpSection] {
    KeyContext.allCases.map { context in
      var entries: [KeyHelp] = []
      var seen: Set<Action> = []
      for entry in ActionTable.entries where entry.context == context && seen.insert(entry.action).inserted {
        let keys = keymap.keys(for: entry.action, in: context).map(App.display)
        let shown = entry.action == .typeGain ? "0…9 ." : keys.joined(separator: " ")
        if keys.isEmpty { continue }
        entries.append(
          KeyHelp(
            keys: shown, name: entry.action.rawValue.replacing("-", with: " "), help: entry.help))
      }
      if context == .playing {
        entries.insert(
          contentsOf: [
            KeyHelp(keys: "z…m", name: "lower row", help: "An octave of piano; s d g h j are its black keys"),
            KeyHelp(keys: "q…u", name: "upper row", help: "The octave above; 2 3 5 6 7 are its black keys"),
          ], at: 0)
      }
      return HelpSection(title: ActionTable.title(of: context), entries: entries)
    }
  }

  /// Keys for the present situation, the most useful first.
  func keyHints() -> [KeyHelp] {
    switch state.overlay {
    case .prompt(let prompt):
      return prompt.sign == "/"
        ? [hint("Enter", "go"), hint("Esc", "back")]
        : [hint("Tab", "complete"), hint("↑ ↓", "history"), hint("Enter", "do it"), hint("Esc", "leave")]
    case .hints: return [hint("two letters", "choose"), hint("Esc", "leave")]
    case .chooser:
      return [hint("↑ ↓", "choose"), hint("letters", "filter"), hint("Enter", "take"), hint("Esc", "leave")]
    case .parameters(let panel):
      return panel.typed == nil
        ? [
          hint("← →", "step"), hint("Enter", "type"), hint("Del", "default"), hint("↑ ↓", "choose"),
          hint("Esc", "done"),
        ] : [hint("Enter", "set"), hint("Esc", "leave")]
    case .question: return []
    case .none: break
    }
    if state.mode == .play {
      return hints(
        [
          (.leave, "leaves"), (.pedal, "pedal"), (.swapEffect, "swap"), (.insertEffect, "insert"),
          (.removeBridge, "remove"), (.undo, "undo"), (.octaveDown, "octave −"), (.octaveUp, "octave +"),
        ], [.playing, .anywhere])
    }
    switch state.view {
    case .matrix where state.matrix.cable != nil:
      return hints(
        [
          (.toggleCrosspoint, "on/off"), (.makeMatrix, "make matrix"), (.nextMatrix, "next cable"),
          (.openGrid, "open"), (.resetGain, "no map"), (.undo, "undo"), (.matrixIdentity, "identity"),
          (.matrixClear, "clear"), (.showHelp, "help"),
        ], [.matrix, .patch, .anywhere])
    case .matrix:
      return hints(
        [
          (.toggleCrosspoint, "on/off"), (.typeGain, "type dB"), (.gainUp, "more"), (.gainDown, "less"),
          (.toggleMute, "mute"), (.toggleSolo, "solo"), (.turnPolarity, "polarity"), (.rangeStart, "range"),
          (.matrixPresets, "presets"), (.labelChannel, "label"), (.undo, "undo"), (.showHelp, "help"),
          (.openGrid, "open"),
        ], [.matrix, .patch, .anywhere])
    case .trace:
      return hints(
        [(.filterTrace, "filter"), (.followTrace, "follow"), (.showHelp, "help"), (.leave, "graph")],
        [.trace, .patch, .anywhere])
    case .printout:
      return hints(
        [(.showHelp, "help"), (.nextNode, "next node"), (.prompt, "prompt"), (.leave, "graph")],
        [.patch, .anywhere])
    case .help: return hints([(.moveDown, "scroll"), (.leave, "graph")], [.patch, .anywhere])
    case .graph:
      return hints(
        [
          (.showHelp, "help"), (.play, "play"), (.connect, "connect"), (.replace, "replace"),
          (.insert, "insert"),
          (.remove, "remove"), (.edit, "edit"), (.add, "add"), (.undo, "undo"), (.prompt, "prompt"),
          (.quit, "quit"),
        ], [.patch, .anywhere])
    }
  }

  private func hint(_ keys: String, _ name: String) -> KeyHelp { KeyHelp(keys: keys, name: name) }

  private func hints(_ actions: [(action: Action, name: String)], _ contexts: [KeyContext]) -> [KeyHelp] {
    actions.compactMap { action, name in
      if action == .typeGain { return hint("0…9", name) }
      for context in contexts {
        if let key = keymap.keys(for: action, in: context).first { return hint(App.display(key), name) }
      }
      return nil
    }
  }

  /// A key's name for display: `Ctrl-R`, `Enter`, `↑`, `−`.
  static func display(_ name: String) -> String {
    switch name {
    case "left": "←"
    case "right": "→"
    case "up": "↑"
    case "down": "↓"
    case "pageup": "PgUp"
    case "pagedown": "PgDn"
    case "minus": "-"
    case _ where name.count == 1: name
    default:
      name.split(separator: "-").map { part in
        part.count == 1 && part != name ? part.uppercased() : part.prefix(1).uppercased() + part.dropFirst()
      }.joined(separator: "-")
    }
  }

  /// The letters that play each MIDI key.
  func keyLabels() -> [UInt8: String] {
    var labels: [UInt8: String] = [:]
    for (place, step) in App.pianoKeys {
      let key = (state.play.octave + 1) * 12 + step
      if (0...127).contains(key) { labels[UInt8(key)] = String(place) }
    }
    return labels
  }
}
