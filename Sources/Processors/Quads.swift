import CVector

/// Sixty-four frames, sorted by their place in each four: lane n of `a` is frame 4n, of `b` frame 4n + 1. What goes from
/// frame to frame takes sixteen steps at once in this order.
struct Quads: BitwiseCopyable {
  var a: Frames
  var b: Frames
  var c: Frames
  var d: Frames

  @inline(__always) @_noLocks init(repeating value: Float) {
    a = Frames(repeating: value)
    b = a
    c = a
    d = a
  }

  /// Sorts frames that follow each other.
  @inline(__always) @_noLocks init(_ frames: UnsafePointer<Float>) {
    let (first, second) = (frames.vector(0), frames.vector(16))
    let (third, fourth) = (frames.vector(32), frames.vector(48))
    let evens = (sostenuto_evens(first, second), sostenuto_evens(third, fourth))
    let odds = (sostenuto_odds(first, second), sostenuto_odds(third, fourth))
    a = sostenuto_evens(evens.0, evens.1)
    b = sostenuto_evens(odds.0, odds.1)
    c = sostenuto_odds(evens.0, evens.1)
    d = sostenuto_odds(odds.0, odds.1)
  }

  /// The frames one after the other.
  var inOrder: (Frames, Frames, Frames, Frames) {
    @inline(__always) @_noLocks get {
      let evens = (sostenuto_first_turns(a, c), sostenuto_last_turns(a, c))
      let odds = (sostenuto_first_turns(b, d), sostenuto_last_turns(b, d))
      return (
        sostenuto_first_turns(evens.0, odds.0), sostenuto_last_turns(evens.0, odds.0),
        sostenuto_first_turns(evens.1, odds.1), sostenuto_last_turns(evens.1, odds.1)
      )
    }
  }

  /// Writes the frames one after the other.
  @inline(__always) @_noLocks func store(_ to: UnsafeMutablePointer<Float>) {
    let frames = inOrder
    to.store(frames.0, 0)
    to.store(frames.1, 16)
    to.store(frames.2, 32)
    to.store(frames.3, 48)
  }
}
