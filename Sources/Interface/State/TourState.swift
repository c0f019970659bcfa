import Patch
import Screen

/// Place in the tour.
public struct TourState: Sendable {
  /// A step as it is shown.
  struct Words: Sendable {
    var number = 1
    var count = 1
    var title = ""
    var text = ""
  }

  /// Index of the step.
  var step = 0
  var words = Words()
  /// About the step before, which has been done.
  var praise = ""
  /// The patch when the step began.
  let patch: Patch
  /// The newest edit then.
  let newestEdit: Int?
  /// Views that were shown since.
  var seen: Set<ViewName> = []

  init(step: Int = 0, _ patch: Patch, newestEdit: Int?) {
    (self.step, self.patch, self.newestEdit) = (step, patch, newestEdit)
  }
}
