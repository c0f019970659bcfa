import Glibc

/// A place in a take that its reader should know about.
public struct Mark: Hashable, Sendable {
  /// Frame of the file.
  public var frame: Int64
  /// Event there, in words.
  public var text: String

  /// A mark at a frame.
  public init(frame: Int64, text: String) {
    self.frame = frame
    self.text = text
  }
}

/// A sound file that grows. One thread.
protocol TakeFile: AnyObject {
  /// The file on disk.
  var disk: DiskFile { get }
  /// The file itself holds marks.
  var holdsMarks: Bool { get }
  /// Appends interleaved frames. After an error the file ends with its last whole frame that was written.
  func append(_ samples: UnsafePointer<Float>, frames: Int) throws(RecordingError)
  /// Has the head tell what is there, so that the file can be read before it is finished.
  func refresh()
  /// Completes the file, also after an error. Returns the number of frames in it.
  func finish(_ marks: [Mark]) throws(RecordingError) -> Int64
}

/// Creates the file of a take.
package enum TakeFiles {
  /// A file of that name, or with a number if there is one already: `take.wav`, `take-2.wav`.
  static func create(
    _ path: String, channels: Int, rate: Double, format: SampleFormat, calls: DiskCalls
  ) throws(RecordingError) -> any TakeFile {
    guard let container = SoundContainer(of: path) else { throw .noFormat(path: path) }
    if container != .wav {
      try CodecFile.check(path, container, channels: channels, rate: rate, format: format)
    }
    let disk = try createFree(path, calls)
    if container == .wav { return WaveFile(disk, channels: channels, rate: rate, format: format) }
    return try CodecFile(disk, channels: channels, rate: rate, format: format)
  }

  static func createFree(_ path: String, _ calls: DiskCalls) throws(RecordingError) -> DiskFile {
    var number = 1
    while true {
      do throws(RecordingError) {
        return try DiskFile(creating: numbered(path, number), calls)
      } catch .system(_, EEXIST) where number < 9999 {
        number += 1
      } catch {
        throw error
      }
    }
  }

  /// `take-2.wav` for `take.wav` and 2.
  static func numbered(_ path: String, _ number: Int) -> String {
    guard number > 1, let dot = path.lastIndex(of: ".") else { return path }
    return "\(path[..<dot])-\(number)\(path[dot...])"
  }

  /// The path followed by an ending: `take.flac.marks`. A name that would be too long is cut.
  package static func beside(_ path: String, after ending: String) -> String {
    let start = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    return path[..<start] + FileName.joined(String(path[start...]), after: ending)
  }
}
