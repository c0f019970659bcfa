/// Where the cycles of a loop in beats begin: at a quarter note, and then as many further on, again and again.
struct LoopBeat: BitwiseCopyable {
  /// Quarter notes of a cycle; 0: the loop is in no beats, and goes round freely.
  var length = 0.0
  /// Quarter note at which its recording began.
  var start = 0.0
  /// Number of the next cycle that begins.
  var number: Int64 = 0
  /// Jumps of the transport when the number was found.
  var jumps: Int32 = 0
  /// The number is right: the transport moved on since it was found.
  var isKnown = false
  /// The loop's end comes as the next cycle begins.
  var isOnTime = false
  /// The loop is silent until then.
  var isOver = false
  /// It has just begun to play, and is not heard yet.
  var isFresh = false

  /// A loop in no beats.
  @_noLocks init() {}
}
