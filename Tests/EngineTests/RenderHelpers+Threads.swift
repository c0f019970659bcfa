import Synchronization

@testable import Engine

extension Engine {
  /// All helper threads are called to every period, whether that saves time or not.
  func callHelpersAlways() { renderer.team.pointee.callsAlways.store(true, ordering: .relaxed) }
}
