import Glibc
import Realtime

/// The part of a take that only the recorder's thread knows: from cells to frames of the file, in time whatever was
/// silent or lost.
final class TakeWriter: @unchecked Sendable {
  private let file: any TakeFile
  private let reader: FeedReader
  private let rate: Double
  private let note: TakeRegister.Note?
  private var start: Int64?
  /// Frames in the file.
  private(set) var written: Int64 = 0
  private(set) var fault: String?
  private(set) var isFinished = false
  private(set) var secondsLeft: Double?
  private var marks: [Mark] = []
  private var sidecar: DiskFile?
  /// Marks beyond this number are only counted.
  private static let mostMarks = 10_000
  /// Lost frames that marks tell of.
  private var accounted: Int64 = 0
  /// Interleaved frames on their way to the file.
  private var buffer: [Float] = []
  private static let bufferFrames = 4096
  private var nextLook: Int64 = 0
  private var looks: [(wall: Int64, bytes: Int64)] = []
  /// The format has no numbers beyond full scale, and so many samples were beyond.
  private let hasCeiling: Bool
  private var clipped = 0
  /// The file has been found missing from its place.
  private var isAway = false
  /// The last warning was for so many seconds left.
  private var warned = Double.infinity

  init(
    _ file: any TakeFile, _ reader: FeedReader, rate: Double, start: Int64?, note: TakeRegister.Note?,
    hasCeiling: Bool = false
  ) {
    self.file = file
    self.reader = reader
    self.rate = rate
    self.start = start
    self.note = note
    self.hasCeiling = hasCeiling
    buffer.reserveCapacity(Self.bufferFrames * reader.channels)
  }

  var bytes: Int64 { file.disk.length }

  /// Writes what came before `now`. `others`: bytes of other takes on this disk. Returns what the user should know.
  func pump(
    now: Int64, end: Int64?, isLast: Bool, wall: Int64, others: Int64 = 0
  ) -> [Notice] {
    if isFinished { return [] }
    var said: [Notice] = []
    do throws(RecordingError) {
      if try write(now: now, end: end, isLast: isLast) { said += finish() }
    } catch {
      fault = error.description
      said += finish()
    }
    if !isFinished, wall >= nextLook {
      nextLook = wall + 1_000_000_000
      file.refresh()
      said += look(wall, others)
      if !isAway, !file.disk.isInPlace {
        isAway = true
        said.append(
          .warning(
            "\(file.disk.path) is not in its place any more (removed, renamed, or unmounted): the take goes on, and may be lost"
          ))
      }
    }
    return said
  }

  /// True: the end has been reached.
  private func write(now: Int64, end: Int64?, isLast: Bool) throws(RecordingError) -> Bool {
    if start == nil { start = reader.start }
    guard let start else { return isLast || end.map { now >= $0 + 64 } == true }
    // The cell under way is handed over at the next multiple of 64.
    var horizon = isLast ? now : now & ~63
    let isEnding = end.map { isLast || horizon >= $0 } == true
    if let end { horizon = min(horizon, end) }
    var failure: RecordingError?
    reader.read(before: horizon) { cell, samples in
      do throws(RecordingError) {
        try take(cell, samples, start, before: end ?? .max)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    // No cell followed that could tell.
    if isEnding, reader.lost > accounted {
      mark(at: max(0, min(reader.lostFrom ?? horizon, horizon) - start), lost: reader.lost - accounted)
      accounted = reader.lost
    }
    try silence(upTo: horizon - start)
    try flush()
    return isEnding
  }

  private func take(
    _ cell: AudioFeed.Cell, _ samples: UnsafePointer<Float>, _ start: Int64, before end: Int64
  ) throws(RecordingError) {
    if cell.lost > 0 {
      try silence(upTo: cell.lostFrom - start)
      mark(at: max(0, cell.lostFrom - start), lost: cell.lost)
      accounted += cell.lost
    }
    try silence(upTo: cell.time - start)
    var frame = Int(max(0, start + position - cell.time))
    let last = Int(min(Int64(cell.frames), end - cell.time))
    while frame < last {
      // Adding zero turns -0 into 0, so that silence has one bit pattern.
      for channel in 0..<reader.channels { buffer.append(samples[channel * 64 + frame] + 0) }
      frame += 1
    }
    if buffer.count >= Self.bufferFrames * reader.channels { try flush() }
  }

  /// Frames in the file and on their way there.
  private var position: Int64 { written + Int64(buffer.count / reader.channels) }

  private func silence(upTo frame: Int64) throws(RecordingError) {
    while position < frame {
      let count = min(frame - position, Int64(Self.bufferFrames))
      buffer.append(contentsOf: repeatElement(0, count: Int(count) * reader.channels))
      if buffer.count >= Self.bufferFrames * reader.channels { try flush() }
    }
  }

  private func flush() throws(RecordingError) {
    guard !buffer.isEmpty else { return }
    if hasCeiling { for sample in buffer where abs(sample) > 1 { clipped += 1 } }
    let frames = buffer.count / reader.channels
    try file.append(buffer, frames: frames)
    written += Int64(frames)
    buffer.removeAll(keepingCapacity: true)
  }

  private func mark(at frame: Int64, lost: Int64) {
    let mark = Mark(
      frame: frame, text: "\(lost) frames lost: the disk was too slow (silence in their place)")
    guard marks.count < Self.mostMarks else { return }
    marks.append(mark)
    note?.add(mark)
    guard !file.holdsMarks else { return }
    // A text beside the file, where the file itself cannot tell.
    if sidecar == nil {
      sidecar = try? DiskFile(creating: TakeFiles.beside(file.disk.path, after: ".marks"), DiskCalls())
    }
    let line = "\(frame) \(Take.words(seconds: Double(frame) / rate)) \(mark.text)\n"
    sidecar?.write(Array(line.utf8), at: sidecar?.length ?? 0)
  }

  /// Ends it, and leaves nothing.
  func discard() {
    isFinished = true
    _ = try? file.finish([])
    unlink(file.disk.path)
    if let sidecar { unlink(sidecar.path) }
    written = 0
    note?.remove()
  }

  private func finish() -> [Notice] {
    let path = file.disk.path
    if fault == nil, written == 0 {
      discard()
      return [.news("\(path): it ended before its first frame, and no file is left")]
    }
    isFinished = true
    defer { note?.remove() }
    let isInPlace = file.disk.isInPlace
    var said: [Notice] = []
    do throws(RecordingError) {
      written = try file.finish(marks)
    } catch {
      fault = fault ?? error.description
    }
    let length = Take.length(seconds: Double(written) / rate)
    if let fault, written == 0 {
      unlink(path)
      said.append(.warning("nothing could be recorded, and no file is left: \(fault)"))
    } else if let fault {
      said.append(.warning("the take ended at \(length): \(fault); what was recorded is whole"))
    } else if !isInPlace {
      said.append(
        .warning(
          "\(path), \(length), is not in its place: it was moved, removed or unmounted while it was recorded")
      )
    } else if let loss = file.disk.loss {
      said.append(
        .warning("parts of \(path), \(length), may be lost, as the disk reports: \(loss.description)"))
    } else {
      said.append(.news("recorded \(path), \(length)"))
    }
    if clipped > 0 {
      said.append(
        .warning("\(path): \(clipped) samples were above full scale and are cut off; float32 would keep them")
      )
    }
    if reader.lost > 0 {
      said.append(
        .warning(
          "\(path): \(reader.lost) frames were lost because the disk was too slow; silence stands in their place, and marks"
        ))
    }
    return said
  }

  // MARK: Room

  private static let warnings: [(seconds: Double, words: String)] = [
    (60, "a minute"), (600, "ten minutes"), (3600, "an hour"),
  ]

  /// Measures how long the disk will last, by what the last ten seconds took; `others`: bytes of other takes on it.
  private func look(_ wall: Int64, _ others: Int64) -> [Notice] {
    let bytes = bytes + others
    // Another take on this disk has ended.
    if let last = looks.last, last.bytes > bytes { looks = [] }
    looks.append((wall, bytes))
    if looks.count > 11 { looks.removeFirst() }
    guard let first = looks.first, wall > first.wall, bytes > first.bytes, let room = file.disk.room else {
      return []
    }
    let speed = Double(bytes - first.bytes) / (Double(wall - first.wall) * 1e-9)
    let left = Double(room) / speed
    secondsLeft = left
    // A few seconds are too short to judge by, unless there is little left at all.
    guard looks.count > 3, let warning = Self.warnings.first(where: { left < $0.seconds }),
      warned > warning.seconds
    else { return [] }
    warned = warning.seconds
    return [.warning("the disk of \(file.disk.path) will be full in less than \(warning.words)")]
  }
}
