import Instruments
import Session

/// `sostenuto check sound.wav`: properties of a sound file, and whether it is complete.
struct SoundFileCheck {
  let path: String
  /// nil if it cannot be read; then `error` has the reason.
  private(set) var report: AudioFileReport?
  private(set) var error: LoadError?

  static func isSoundFile(_ path: String) -> Bool {
    let endings = "wav wave flac ogg oga opus aif aiff aifc au snd caf w64 rf64 mp3"
    return endings.split(separator: " ").contains { path.lowercased().hasSuffix(".\($0)") }
  }

  init(_ path: String) {
    self.path = path
    do throws(LoadError) {
      report = try AudioFileLoader.inspect(path: path)
    } catch {
      self.error = error
    }
  }

  /// FILE:LINE: warning: …, then its properties.
  var text: String {
    guard let report else { return error.map { "\($0.path):1: error: \($0.message)\n" } ?? "" }
    var text = report.findings.map { "\($0.file):1: warning: \($0.message)\n" }.joined()
    text += "\(path): \(report.format), \(report.channels) channel\(report.channels == 1 ? "" : "s"), "
    text += "\(Self.plain(report.rate)) Hz, \(report.frames) frame\(report.frames == 1 ? "" : "s") "
    text += "(\(Printout.exact(report.seconds, 3)) s)"
    if let loop = report.loop {
      text += ", loop \(loop.start) to \(loop.end)\(loop.type == "forward" ? "" : " \(loop.type)")"
    }
    if let key = report.key { text += ", key \(key)" }
    return text + "\n"
  }

  private static func plain(_ rate: Double) -> String {
    rate == rate.rounded() ? String(Int(rate)) : String(rate)
  }

  var json: JSON {
    guard let report else {
      return .object([("file", .string(path)), ("error", .string(error?.message ?? "")), ("line", .null)])
    }
    let loop = report.loop.map {
      JSON.object([("start", .int($0.start)), ("end", .int($0.end)), ("type", .string($0.type))])
    }
    return .object([
      ("file", .string(path)), ("format", .string(report.format)), ("channels", .int(report.channels)),
      ("rate", .int(Int(report.rate))), ("frames", .int(report.frames)), ("loop", loop ?? .null),
      ("key", report.key.map { .int($0) } ?? .null),
      (
        "findings",
        .array(
          report.findings.map {
            .object([("file", .string($0.file)), ("line", .int($0.line)), ("message", .string($0.message))])
          })
      ),
    ])
  }
}
