import Realtime

/// One parameter of a section, from the start of a group on; steady where it has no frames of its own.
struct SectionStream: BitwiseCopyable {
  /// 64 floats, of which those behind the block are unspecified.
  let frames: UnsafePointer<Float>?
  private let value: Float

  @inline(__always) @_noLocks init(_ value: Float) {
    frames = nil
    self.value = value
  }

  @inline(__always) @_noLocks init(_ frames: UnsafePointer<Float>) {
    self.frames = frames
    value = 0
  }

  @inline(__always) @_noLocks init(_ stream: ParameterStream, _ channel: Int) {
    frames = stream.frames(channel)
    value = stream.value(channel)
  }

  @inline(__always) @_noLocks subscript(_ frame: Int) -> Float {
    guard let frames else { return value }
    return frames[frame]
  }

  @inline(__always) @_noLocks func vector(_ frame: Int) -> Frames {
    guard let frames else { return Frames(repeating: value) }
    return frames.vector(frame)
  }

  /// All 64, sorted.
  var quads: Quads {
    @inline(__always) @_noLocks get {
      guard let frames else { return Quads(repeating: value) }
      return Quads(frames)
    }
  }

  /// True when the group from `frame` on is seen to move at a glance; only `isLevel` is sure of the contrary.
  @inline(__always) @_noLocks func clearlyMoves(_ frame: Int) -> Bool {
    guard let frames else { return false }
    return frames[frame] != frames[frame &+ 15] || frames[frame] != frames[frame &+ 7]
  }

  /// True when all sixteen frames from `frame` on are equal.
  @inline(__always) @_noLocks func isLevel(_ frame: Int) -> Bool {
    guard let frames else { return true }
    return areZero(frames.vector(frame) - frames[frame])
  }
}

/// Parameters of a section, from the start of a group on.
struct SectionParameters: BitwiseCopyable {
  let freq: SectionStream
  let q: SectionStream
  /// Linear; one for responses without gain.
  let gain: SectionStream
  /// Share of `new` in each frame.
  let blend: SectionStream
  let old: Response
  let new: Response
  let rate: Float

  @inline(__always) @_noLocks init(
    freq: SectionStream, q: SectionStream, gain: SectionStream, blend: SectionStream, old: Response,
    new: Response, rate: Float
  ) {
    self.freq = freq
    self.q = q
    self.gain = gain
    self.blend = blend
    self.old = old
    self.new = new
    self.rate = rate
  }

  /// The same with other streams, in the order of `SectionWindow`'s rows.
  @inline(__always) @_noLocks func with(_ rows: UnsafePointer<Float>, apart: Int) -> Self {
    Self(
      freq: SectionStream(rows), q: SectionStream(rows + apart), gain: SectionStream(rows + 2 &* apart),
      blend: SectionStream(rows + 3 &* apart), old: old, new: new, rate: rate)
  }

  var isSteady: Bool {
    @inline(__always) @_noLocks get {
      freq.frames == nil && q.frames == nil && gain.frames == nil && blend.frames == nil
    }
  }

  @inline(__always) @_noLocks func clearlyMove(_ frame: Int) -> Bool {
    freq.clearlyMoves(frame) || q.clearlyMoves(frame) || gain.clearlyMoves(frame)
      || blend.clearlyMoves(frame)
  }

  /// True when the sixteen frames from `frame` on have the same coefficients, of `new` alone.
  @inline(__always) @_noLocks func areLevel(_ frame: Int) -> Bool {
    freq.isLevel(frame) && q.isLevel(frame) && gain.isLevel(frame) && blend.isLevel(frame)
      && blend[frame] == 1
  }
}

/// Rows of four parameters, for 64 frames and what is written over their end.
struct SectionWindow: BitwiseCopyable {
  private typealias Row = (Frames, Frames, Frames, Frames, Frames)
  private var rows: (Row, Row, Row, Row)

  /// Floats from one row to the next.
  static var apart: Int { @inline(__always) @_noLocks get { 80 } }

  @inline(__always) @_noLocks init() {
    let zero = Frames(repeating: 0)
    let row = (zero, zero, zero, zero, zero)
    rows = (row, row, row, row)
  }
}

/// Parameters of the frames of an unfinished group, which the next block calculates again.
struct SectionPast: BitwiseCopyable {
  private var freq = Frames(repeating: 0)
  private var q = Frames(repeating: 0)
  private var gain = Frames(repeating: 0)
  private var blend = Frames(repeating: 0)
  private var new = Response.peak
  /// All frames were like the first of each vector.
  private var isLevel = false

  @inline(__always) @_noLocks init() {}

  /// Frames that were all like this.
  @inline(__always) @_noLocks mutating func fill(
    _ freq: Float, _ q: Float, _ gain: Float, _ response: Response
  ) {
    self.freq[0] = freq
    self.q[0] = q
    self.gain[0] = gain
    blend[0] = 1
    new = response
    isLevel = true
  }

  /// True when all frames were as these parameters, which are steady, are.
  @inline(__always) @_noLocks mutating func equals(_ p: SectionParameters) -> Bool {
    equals(p.freq[0], p.q[0], p.gain[0], p.new)
  }

  @inline(__always) @_noLocks mutating func equals(
    _ freq: Float, _ q: Float, _ gain: Float, _ response: Response
  ) -> Bool {
    isLevel && new == response && self.freq[0] == freq && self.q[0] == q && self.gain[0] == gain
  }

  /// Writes the rows of a window: `lane` frames of the past, then those of the block.
  @_noLocks mutating func write(_ p: SectionParameters, _ lane: Int, _ rows: UnsafeMutablePointer<Float>) {
    rows.store(all(freq), 0)
    rows.store(all(q), SectionWindow.apart)
    rows.store(all(gain), 2 &* SectionWindow.apart)
    // A change that begins within the group begins from what there was.
    rows.store(new == p.new ? all(blend) : Frames(repeating: 0), 3 &* SectionWindow.apart)
    var frame = 0
    while frame < 64 {
      let to = rows + (lane &+ frame)
      to.store(p.freq.vector(frame), 0)
      to.store(p.q.vector(frame), SectionWindow.apart)
      to.store(p.gain.vector(frame), 2 &* SectionWindow.apart)
      to.store(p.blend.vector(frame), 3 &* SectionWindow.apart)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private func all(_ row: Frames) -> Frames {
    isLevel ? Frames(repeating: row[0]) : row
  }

  /// Keeps the group that begins at `frame` of a window.
  @_noLocks mutating func keep(
    _ rows: UnsafePointer<Float>, _ frame: Int, _ response: Response
  ) {
    freq = rows.vector(frame)
    q = rows.vector(SectionWindow.apart &+ frame)
    gain = rows.vector(2 &* SectionWindow.apart &+ frame)
    blend = rows.vector(3 &* SectionWindow.apart &+ frame)
    new = response
    isLevel = false
  }
}
