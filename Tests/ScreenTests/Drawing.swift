import Screen
import Testing

/// Compares a drawing on a fresh canvas, as plain text.
func expectDrawn(
  _ columns: Int, _ rows: Int, _ expected: String, at location: SourceLocation = #_sourceLocation,
  _ draw: (inout Canvas) -> Void
) {
  var canvas = Canvas(columns: columns, rows: rows)
  draw(&canvas)
  #expect(canvas.text == expected, sourceLocation: location)
}
