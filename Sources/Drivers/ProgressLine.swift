import Glibc
import Patch
import Realtime

/// Progress of a long job on standard error: a single line that is overwritten on a terminal, otherwise a
/// line for each tenth. Worker.
public struct ProgressLine {
  private let title: String
  private let total: Double
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let start = nanoseconds()
  private var shown = nanoseconds()
  private var tenth = 0

  /// `title`: "rendering out.wav". `total`: size of the job, in seconds of sound.
  public init(_ title: String, total: Double) {
    self.title = Visible.text(title)
    self.total = total
  }

  /// Shows that `done` of the total is done.
  public mutating func show(_ done: Double) {
    let now = nanoseconds()
    let share = total > 0 ? min(done / total, 1) : 1
    if isTerminal {
      guard share >= 1 || now - shown > 100_000_000 else { return }
      shown = now
    } else {
      guard Int(share * 10) > tenth else { return }
      tenth = Int(share * 10)
    }
    let elapsed = Double(max(now - start, 1)) / 1e9
    let speed = Int((done / elapsed).rounded())
    let text = "\(title): \(Int(share * 100)) % of \(Self.seconds(total)), \(speed) times real time"
    // Erases the rest of a longer previous line.
    write(isTerminal ? "\r\(text)\u{1b}[K\(share >= 1 ? "\n" : "")" : "\(text)\n")
  }

  private static func seconds(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
  }

  private func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
