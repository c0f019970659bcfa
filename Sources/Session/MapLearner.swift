import Patch
import Realtime

/// Guesses from the events of a moving controller what it is: 7 or 14 bits, a parameter of the device, an endless encoder.
public struct MapLearner: Sendable {
  private var node: String?
  private var controls: [(number: Int, value: Int)] = []
  private var channel: UInt8 = 0
  private var note: Int?
  private var bends = 0
  private var pressures = 0

  /// A learner that has heard nothing.
  public init() {}

  /// True when it has heard a controller.
  public var hasHeard: Bool { node != nil }

  /// Takes an event of the node of that name into account. The first node heard counts.
  public mutating func hear(_ event: Event, from name: String) {
    guard node == nil || node == name else { return }
    switch event.kind {
    case .control where event.key < 120:
      controls.append((Int(event.key), Int(event.value)))
    case .noteOn: note = note ?? Int(event.key)
    case .bend: bends += 1
    case .pressure: pressures += 1
    default: return
    }
    if node == nil { channel = event.channel }
    node = name
  }

  /// The map that has been heard, without a range; nil: nothing has.
  public func guess(for target: ControlTarget) -> (name: MapName, course: MapCourse)? {
    guard let node else { return nil }
    var course = MapCourse()
    func named(_ sender: MapSource.Sender) -> (MapName, MapCourse) {
      (MapName(MapSource(node, sender), target), course)
    }
    if let parameter { return named(parameter) }
    var counts: [Int: Int] = [:]
    for control in controls { counts[control.number, default: 0] += 1 }
    if let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key {
      let coarse = most >= 32 && most < 64 && counts[most - 32] != nil ? most - 32 : most
      if coarse < 32, counts[coarse + 32] != nil { return named(.fine(coarse, coarse + 32)) }
      course.mode = Self.steps(controls.filter { $0.number == most }.map(\.value))
      return named(.controller(most))
    }
    if bends > 0 { return named(.bend) }
    if let note { return named(.note(note)) }
    return named(.pressure)
  }

  /// The parameter that controllers 98 to 101 selected, if it was set too.
  private var parameter: MapSource.Sender? {
    var (high, low, isRegistered) = (0, 0, false)
    var isSelected = false
    for control in controls {
      switch control.number {
      case 98: (low, isRegistered, isSelected) = (control.value, false, true)
      case 99: (high, isRegistered, isSelected) = (control.value, false, true)
      case 100: (low, isRegistered, isSelected) = (control.value, true, true)
      case 101: (high, isRegistered, isSelected) = (control.value, true, true)
      case 6, 38, 96, 97:
        // 127, 127 selects nothing.
        guard isSelected, high << 7 | low != 16383 else { continue }
        return isRegistered ? .rpn(high << 7 | low) : .nrpn(high << 7 | low)
      default: break
      }
    }
    return nil
  }

  /// The mode of an encoder that sends steps, which knobs never send: the same number again and again, near a middle.
  private static func steps(_ values: [Int]) -> MapCourse.Mode? {
    guard values.count >= 3, zip(values, values.dropFirst()).contains(where: ==) else { return nil }
    func all(_ steps: Set<Int>) -> Bool { values.allSatisfy(steps.contains) }
    if all([62, 63, 65, 66]) { return .offset }
    if all([1, 2, 3, 125, 126, 127]) { return .relative }
    return all([1, 2, 3, 65, 66, 67]) ? .sign : nil
  }
}
