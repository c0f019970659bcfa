/// `fade 2s`: the time of the crossfades of the edits that are joined with it.
struct FadeOver: EditVerbs {
  /// Seconds.
  var seconds: Double

  func apply(to draft: inout Draft) throws(EditError) {
    try SetParameter.check(over: seconds)
    draft.fade = max(draft.fade ?? 0, seconds)
  }

  func inverse(in draft: Draft) -> Edit { .all([]) }

  func describe() -> String { "fade \(Value.number(seconds, .seconds).line)" }
}
