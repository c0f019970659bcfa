import Screen
import Testing

/// A small generator with a seed, so that a failing random test can be run again.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Checks what drawing on a fresh canvas shows, as plain text.
func expectDrawn(
  _ columns: Int, _ rows: Int, _ expected: String, at location: SourceLocation = #_sourceLocation,
  _ draw: (inout Canvas) -> Void
) {
  var canvas = Canvas(columns: columns, rows: rows)
  draw(&canvas)
  #expect(canvas.text == expected, sourceLocation: location)
}
