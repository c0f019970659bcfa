import Patch
import Screen

/// Storing and recalling scenes by keys.
@MainActor struct Scenes {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  /// The keys of the scenes from 1 on, with Alt: the row of letters.
  nonisolated static let letters: [Character] = ["q", "w", "e", "r", "t", "y", "u", "i"]
  /// Times of a recall to choose from, in seconds; nil: as every edit.
  private nonisolated static let times: [Double?] = [nil, 0.5, 1, 2, 5, 10]

  /// A time in words.
  nonisolated static func words(_ time: Double?) -> String {
    time.map { Value.number($0, .seconds).line } ?? "at once"
  }

  private nonisolated static func number(_ key: Key?) -> Int? {
    guard case .character(let character)? = key?.code,
      let index = letters.firstIndex(of: Character(character.lowercased()))
    else { return nil }
    return index + 1
  }

  func recall(_ key: Key?) {
    if let number = Self.number(key) { recall(number) }
  }

  func recall(_ number: Int) {
    guard desk.scene.patch.scenes[number] != nil else {
      let letter = Self.letters.indices.contains(number - 1) ? String(Self.letters[number - 1]) : ""
      return desk.complain("no scene \(number) yet: Alt-Shift-\(letter) stores it")
    }
    desk.perform(.recall(number, over: desk.state.play.recallTime))
  }

  func store(_ key: Key?) {
    guard let number = Self.number(key) else { return }
    desk.perform(.scene(number, .store(name: nil)))
  }

  func turnTime() {
    let index = Self.times.firstIndex(of: desk.state.play.recallTime) ?? 0
    desk.state.play.recallTime = Self.times[(index + 1) % Self.times.count]
    desk.say(
      "scenes are recalled " + (desk.state.play.recallTime == nil ? "" : "over ")
        + Self.words(desk.state.play.recallTime))
  }
}

extension Scenes {
  nonisolated static let actions: [Action] = [
    Action(
      "recall", "Recall a scene, 1 to 8", [.anywhere: letters.map { "alt-\($0)" }.joined(separator: " ")],
      shownKeys: "Alt-q–i"
    ) { desk, key in Scenes(desk).recall(key) },
    Action(
      "store", "Store the present state as a scene, 1 to 8",
      [.anywhere: letters.map { "alt-\($0.uppercased())" }.joined(separator: " ")], shownKeys: "Alt-Q–I"
    ) { desk, key in Scenes(desk).store(key) },
    Action("recall-time", "The time of recalls, from at once to 10 seconds", [.anywhere: "alt-o"]) {
      Scenes($0).turnTime()
    },
  ]
}
