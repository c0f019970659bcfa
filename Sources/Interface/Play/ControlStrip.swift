import Glibc
import Patch
import Screen

/// The controls above the keyboard of play mode: the number and target of each, and its value as a bar and in words. Where a
/// controller moves it, its name, and the way that it has to go while it does not stand at the value.
///
/// ```
/// ▸1 dist.drive ↑cc74   2 dist.mix       3 main[0,1]      4 ·
///  ▕████░░▏18.0 dB   ▕███░░░▏60 %     ▕██░░░░▏-18.0 dB
/// ```
struct ControlStrip {
  private let scene: Scene
  private let picked: Int?
  private let columns: Int

  /// Columns that a control needs.
  private static let leastColumns = 17
  private static let barColumns = 6

  init(_ scene: Scene, _ state: ViewState, columns: Int) {
    self.scene = scene
    picked = state.play.control
    self.columns = columns
  }

  /// Controls that have room, the picked one among them.
  private var shown: ClosedRange<Int> {
    let numbers = ControlTarget.numbers
    let count = min(numbers.count, max(1, (columns - 1) / Self.leastColumns))
    let first = min(max(1, (picked ?? 1) - count + 1), numbers.upperBound - count + 1)
    return first...first + count - 1
  }

  private var cellColumns: Int { max(1, (columns - 1) / shown.count) }

  func draw(on canvas: inout Canvas) {
    for (index, number) in shown.enumerated() {
      let left = 1 + index * cellColumns
      let room = min(cellColumns - 1, columns - left)
      let isPicked = number == picked
      let target = scene.patch.settings.controls[number]
      let name = target.map(words) ?? "·"
      let source = target.map(source) ?? []
      // A long name makes room for the controller.
      let sourceColumns = DisplayWidth.of(source.map(\.text).joined())
      let nameColumns = max(4, room - 3 - sourceColumns)
      canvas.put(
        [
          Span(isPicked ? "▸" : " ", .accent), Span("\(number) ", isPicked ? .accent : .keyName),
          Span(
            Wrapping.shortened(part: name, to: nameColumns),
            target == nil ? .dim : isPicked ? .accent : .text), Span(" "),
        ] + source, at: Point(left - 1, 0), columns: room + 1)
      guard let target else { continue }
      canvas.put(Self.value(of: target, scene), at: Point(left, 1), columns: room)
    }
    // Controls that have no room.
    let taken = scene.patch.settings.controls.keys
    if taken.contains(where: { $0 > shown.upperBound }) {
      canvas.set("›", at: Point(columns - 1, 0), Style(.accent))
    }
    if taken.contains(where: { $0 < shown.lowerBound }) {
      canvas.set("‹", at: Point(0, 0), Style(.accent))
    }
  }

  /// A cable without its ports, where those are the ones that it has unless it names others.
  private func words(_ target: ControlTarget) -> String {
    guard case .gain(let name) = target,
      let cable = try? scene.patch.existing(name, catalogue: scene.catalogue)
    else { return target.description }
    return scene.patch.shortName(of: cable.ends, catalogue: scene.catalogue).description
  }

  /// The controller that moves the value, and the way that it has to go where it does not stand at the value.
  private func source(of target: ControlTarget) -> [Span] {
    let names = scene.patch.maps(to: target)
    guard let name = names.first, let course = scene.patch.settings.maps[name] else { return [] }
    let more = names.count > 1 ? "+\(names.count - 1)" : ""
    let word = Span(name.source.word + more, .dim)
    guard let place = scene.mapPlaces[name],
      let scale = try? scene.patch.scale(of: name, course, catalogue: scene.catalogue), scale.waits,
      let found = try? scene.patch.controlled(target, catalogue: scene.catalogue),
      let wanted = scale.position(of: found.value), scale.value(at: place) != found.value
    else { return [word] }
    // A value within one step of the controller has been met.
    if wanted == place { return [word] }
    return [Span(wanted > place ? "↑" : "↓", .warning), word]
  }

  /// The control at a column of the strip.
  func control(at column: Int) -> Int? {
    let number = shown.lowerBound + max(0, column - 1) / cellColumns
    return shown.contains(number) ? number : nil
  }

  private static func value(of target: ControlTarget, _ scene: Scene) -> [Span] {
    guard let found = try? scene.patch.controlled(target, catalogue: scene.catalogue) else {
      return [Span("gone", .warning)]
    }
    let words = Span(found.value.display, .value)
    let now = found.parameter.timed(found.value, wholeNote: scene.wholeNote)
    guard let share = ValueBar.share(of: now, found.parameter) else { return [words] }
    return ValueBar.spans(share, columns: barColumns) + [words]
  }
}
