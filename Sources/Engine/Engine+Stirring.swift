import Realtime
import Synchronization

extension Engine {
  /// Something has happened, or begun to sound, since the last `collect` and the last report. It costs a fraction of these two,
  /// so that a view of a silent patch may ask often, and look rarely. Worker.
  public var isStirring: Bool {
    if !sent.isEmpty || !unsent.isEmpty { return true }
    if hasMoved || renderer.heard.peek() != nil { return true }
    for index in 0..<threads where renderer.team.pointee.runners[index].trace.peek() != nil { return true }
    return picture?.isStirring ?? true
  }
}
