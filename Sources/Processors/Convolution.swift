import CVector
import Patch
import Realtime

/// Convolves sound with a recorded impulse, without added latency.
///
/// The first 64 frames of the impulse are taken frame by frame, the next 1984 in parts of 64, the rest in parts of 1024 (see
/// `Impulse`), by spectra. A cell of 64 frames of engine time is the clock of all of it: at its start everything that past
/// sound brings to it is known. The long parts' work for 1024 frames is done in the 1024 before, a sixteenth in each cell.
///
/// Another impulse is at first only calculated beside the old one, until it has the sound of long ago, and then crossfaded.
public struct Convolution: Kernel {
  public static let description = KindDescription(
    name: "convolution", summary: "Convolves sound with a recorded impulse: rooms, plates, loudspeakers.",
    category: .effect, inputs: [PortDescription("in", .parameter("channels"))],
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      ParameterDescription(
        "file",
        "The impulse, a sound file of any rate; its channels are those of the sound, in turn. Silent without one.",
        form: .file(.impulse), default: .text(""), smoothing: .none),
      .percent("mix", "How much of it is convolved.", default: 100),
      .gain("level", "Gain of what is convolved.", default: 0, upTo: 24),
      .number(
        "length", "Longest impulse; more of it is left out. It takes memory.", default: 6,
        range: 0.1...Double(Impulse.longest),
        unit: .seconds, smoothing: .structural),
      .count("channels", "Channels of both ports.", default: 2),
    ], cost: .init(100, perChannel: 2000))

  /// Positions in `description.parameters`.
  public static var file: Int { @_noLocks get { 0 } }
  public static var mix: Int { @_noLocks get { 1 } }
  public static var level: Int { @_noLocks get { 2 } }
  public static var length: Int { @_noLocks get { 3 } }
  public static var channels: Int { @_noLocks get { 4 } }

  private let seconds: Float
  private var memory: ConvolutionMemory
  /// The impulse that is heard, the one that comes, and one that waits.
  private var image, coming, waiting: UnsafeMutablePointer<Impulse>?
  /// Another impulse has been handed over, which may be none; the one that comes may be none too.
  private var hasWaiting = false
  private var course = Course.rest
  private var fade = Ramp(1)
  private var entry = Entry()
  /// Slots of the newest spectra, and how many have been written since the last sleep: what is older was silence.
  private var shortSlot = 0
  private var longSlot = 0
  private var shortCount = 0
  private var longCount = 0
  private var quiet = QuietCell()
  private var quietFrames = 0
  private var isAsleep = true

  private enum Course: UInt8 {
    /// One impulse.
    case rest
    /// The one that comes has only begun with the sound of long ago.
    case coming
    /// It fades in.
    case fading
  }

  private static func longParts(_ seconds: Float, _ rate: Double) -> Int {
    max(1, Int((Double(seconds) * rate / Double(Impulse.long)).rounded(.up)) - 2)
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes {
      ConvolutionMemory(
        configuration.inputs[0], longParts(configuration.value(length), configuration.rate), &$0)
    }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    seconds = configuration.value(Self.length)
    var arena = Arena(memory)
    self.memory = ConvolutionMemory(
      configuration.inputs[0], Self.longParts(seconds, configuration.rate), &arena)
    self.memory.short.design()
    self.memory.long.design()
  }

  // MARK: Impulses

  @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {
    if let waiting { waiting.pointee.header.count(-1) }
    waiting = nil
    if let resource, resource.pointee.type == Impulse.type {
      waiting = UnsafeMutableRawPointer(resource).assumingMemoryBound(to: Impulse.self)
      resource.pointee.count(1)
    }
    hasWaiting = true
  }

  public mutating func release() {
    for used in [image, coming, waiting] { used?.pointee.header.returned += 1 }
    (image, coming, waiting) = (nil, nil, nil)
  }

  /// Where nothing is heard, an impulse has no past to learn.
  @_noLocks private mutating func takeAtOnce() {
    if let image { image.pointee.header.count(-1) }
    (image, waiting, hasWaiting) = (waiting, nil, false)
  }

  /// At the start of 1024 frames: lets another impulse begin, or fade in.
  @_noLocks private mutating func turn(_ rate: Float) {
    if course == .coming {
      course = .fading
      fade = Ramp(0)
      fade.move(to: 1, over: Int(rate * 0.01))
    } else if course == .rest, hasWaiting {
      (coming, waiting, hasWaiting) = (waiting, nil, false)
      course = .coming
    }
  }

  /// The impulse that has faded in is the one that is heard.
  @_noLocks private mutating func arrive() {
    if let image { image.pointee.header.count(-1) }
    (image, coming, course) = (coming, nil, .rest)
    var channel = 0
    while channel < memory.channels {
      let row = memory.row(channel)
      row.heard.copy(row.coming)
      channel &+= 1
    }
  }

  // MARK: Rendering

  @_noLocks public mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ blockCapacity : 0
    // By then nothing is left in what the impulse's parts and the cells ahead are made of.
    guard course == .rest, !hasWaiting, quietFrames > (parts(image) &+ 5) &* Impulse.long else {
      return false
    }
    (isAsleep, shortCount, longCount) = (true, 0, 0)
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    let blend = block.scratch.assumingMemoryBound(to: Float.self)
    let entry = entry.follow(block, blend + blockCapacity)
    if isAsleep, hasWaiting { takeAtOnce() }
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    if !input.isSilent { quietFrames = 0 }
    let start = Int(block.time & 63)
    let cell = Int(block.time &>> 6) & 15
    if start == 0 { begin(cell, block.rate) }
    let fades = course == .fading
    if fades { fade.fill(blend, frames: block.frames) }
    let (mix, level) = (block.parameters[Self.mix], block.parameters[Self.level])
    var channel = 0
    while channel < memory.channels {
      let (from, to, row) = (input[channel], block.outputs[0][channel], memory.row(channel))
      let sound = row.sound + start
      var frame = 0
      while frame < block.frames {
        sound.store(entry.map { from.vector(frame) * $0.vector(frame) } ?? from.vector(frame), frame)
        frame &+= 16
      }
      frame = 0
      while frame < block.frames {
        let place = start &+ frame
        var y = Self.heard(image, row.heard, sound + frame, channel, cell, place)
        if fades {
          let b = blend.vector(frame)
          y = y * (1 - b) + Self.heard(coming, row.coming, sound + frame, channel, cell, place) * b
        }
        let m = limited(mix.vector(channel, frame) * 0.01, 0, 1)
        to.store(from.vector(frame) * (1 - m) + y * (m * level.vector(channel, frame)) + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    return .sounding
  }

  /// Sixteen frames of one impulse.
  @inline(__always) @_noLocks private static func heard(
    _ image: UnsafeMutablePointer<Impulse>?, _ voice: ConvolutionVoice, _ sound: UnsafeMutablePointer<Float>,
    _ channel: Int, _ cell: Int, _ place: Int
  ) -> Frames {
    guard let image else { return Frames(repeating: 0) }
    let first = sostenuto_convolve(sound, image.pointee.taps(channel))
    return first + (voice.soon.vector(place) + voice.late.vector(cell &* Impulse.short &+ place))
  }

  /// The start of a cell: spectra of the sound before it, and what they bring.
  @inline(never) @_noLocks private mutating func begin(_ cell: Int, _ rate: Float) {
    if course == .fading, !fade.isMoving { arrive() }
    shortSlot = shortSlot &+ 1 == ConvolutionMemory.shortSlots ? 0 : shortSlot &+ 1
    shortCount = least(shortCount &+ 1, Impulse.shortParts)
    if cell == 0 {
      longSlot = longSlot &+ 1 == memory.longSlots ? 0 : longSlot &+ 1
      longCount = least(longCount &+ 1, memory.longSlots)
      turn(rate)
    }
    var channel = 0
    while channel < memory.channels {
      let row = memory.row(channel)
      keepHistory(row.sound - 128, 128, Impulse.short)
      copyMemory(
        row.collected + ((cell &- 1) & 15) &* Impulse.short, row.sound - Impulse.short, 4 &* Impulse.short)
      memory.short.forward(
        row.sound - 128, row.sound - 64, to: row.shortSpectra + shortSlot &* memory.short.spectrum)
      if cell == 0 {
        memory.long.forward(row.before, row.collected, to: row.longSpectra + longSlot &* memory.long.spectrum)
        copyMemory(row.before, row.collected, 4 &* Impulse.long)
      }
      follow(image, row.heard, row, channel, cell)
      if course != .rest { follow(coming, row.coming, row, channel, cell) }
      channel &+= 1
    }
  }

  /// One impulse's part of the work of a cell.
  @_noLocks private func follow(
    _ image: UnsafeMutablePointer<Impulse>?, _ voice: ConvolutionVoice, _ row: ConvolutionRow, _ channel: Int,
    _ cell: Int
  ) {
    if cell == 0 {
      copyMemory(voice.late, voice.next, 4 &* Impulse.long)
      setMemory(voice.sum, 0, 4 &* memory.long.spectrum)
    }
    guard let image else {
      if cell == 15 { setMemory(voice.next, 0, 4 &* Impulse.long) }
      return
    }
    setMemory(voice.shortSum, 0, 4 &* memory.short.spectrum)
    sostenuto_add_products(
      voice.shortSum, row.shortSpectra, image.pointee.shortSpectra(channel), number(shortSlot),
      number(ConvolutionMemory.shortSlots), 0, number(shortCount), number(Impulse.short))
    memory.short.inverse(voice.shortSum, to: voice.soon)
    if cell < 15 {
      let parts = least(parts(image), longCount)
      let (from, end) = (parts &* cell / 15, parts &* (cell &+ 1) / 15)
      if end > from {
        sostenuto_add_products(
          voice.sum, row.longSpectra, image.pointee.longSpectra(channel), number(longSlot),
          number(memory.longSlots), number(from), number(end), number(Impulse.long))
      }
    } else {
      memory.long.inverse(voice.sum, to: voice.next)
    }
  }

  /// Long parts of an impulse that are heard.
  @inline(__always) @_noLocks private func parts(_ image: UnsafeMutablePointer<Impulse>?) -> Int {
    image.map { least($0.pointee.longParts, memory.longSlots) } ?? 0
  }

  @inline(__always) @_noLocks private func least(_ a: Int, _ b: Int) -> Int { a < b ? a : b }
  @inline(__always) @_noLocks private func number(_ value: Int) -> Int64 { Int64(truncatingIfNeeded: value) }

  /// The sound of before would have another pitch at the new rate, and so would the impulse until it is converted: the tail
  /// ends here. Worker.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    entry.stretch(by: new / old)
    if let memory {
      var arena = Arena(memory)
      self.memory = ConvolutionMemory(self.memory.channels, Self.longParts(seconds, new), &arena)
      self.memory.short.design()
      self.memory.long.design()
    } else {
      self.memory.clear()
    }
    (shortSlot, longSlot, shortCount, longCount) = (0, 0, 0, 0)
  }
}

/// Convolution of one channel with an impulse.
struct ConvolutionVoice: BitwiseCopyable {
  /// By its short parts, for this cell.
  let soon: UnsafeMutablePointer<Float>
  /// By its long parts, for these 1024 frames and for the next.
  let late, next: UnsafeMutablePointer<Float>
  /// Sums of products of spectra.
  let sum, shortSum: UnsafeMutablePointer<Float>

  @_noLocks init(_ arena: inout Arena) {
    soon = arena.take(Float.self, Impulse.short &+ 16)
    late = arena.take(Float.self, Impulse.long &+ 16)
    next = arena.take(Float.self, Impulse.long)
    sum = arena.take(Float.self, 2 &* Impulse.long)
    shortSum = arena.take(Float.self, 2 &* Impulse.short)
  }

  /// Takes another one's place.
  @_noLocks func copy(_ other: Self) {
    copyMemory(soon, other.soon, 4 &* Impulse.short)
    copyMemory(late, other.late, 4 &* Impulse.long)
    copyMemory(next, other.next, 4 &* Impulse.long)
    copyMemory(sum, other.sum, 8 &* Impulse.long)
  }
}

/// Memory of a channel.
struct ConvolutionRow: BitwiseCopyable {
  /// The sound of this cell, and 128 frames before it.
  let sound: UnsafeMutablePointer<Float>
  /// The sound of these 1024 frames, as far as it is complete, and of those before.
  let collected, before: UnsafeMutablePointer<Float>
  /// Rings of the spectra of sound.
  let shortSpectra, longSpectra: UnsafeMutablePointer<Float>
  let heard, coming: ConvolutionVoice

  @_noLocks init(_ longSlots: Int, _ arena: inout Arena) {
    sound = arena.take(Float.self, Impulse.short &+ 16, after: 128)
    collected = arena.take(Float.self, Impulse.long)
    before = arena.take(Float.self, Impulse.long)
    shortSpectra = arena.take(Float.self, ConvolutionMemory.shortSlots &* 2 &* Impulse.short)
    longSpectra = arena.take(Float.self, longSlots &* 2 &* Impulse.long)
    heard = ConvolutionVoice(&arena)
    coming = ConvolutionVoice(&arena)
  }
}

/// Memory of a convolution.
struct ConvolutionMemory: BitwiseCopyable {
  let channels: Int
  /// Spectra of long blocks that are kept: one for each long part.
  let longSlots: Int
  static var shortSlots: Int { @inline(__always) @_noLocks get { 32 } }
  let short, long: BlockTransform
  private let rows: UnsafeMutableRawPointer
  private let rowSize: Int

  init(_ channels: Int, _ longParts: Int, _ arena: inout Arena) {
    self.channels = channels
    longSlots = longParts
    short = BlockTransform(Impulse.short, &arena)
    long = BlockTransform(Impulse.long, &arena)
    var row = Arena(measuring: ())
    _ = ConvolutionRow(longParts, &row)
    rowSize = row.bytes
    rows = arena.reserve(channels * rowSize)
  }

  @inline(__always) @_noLocks func row(_ channel: Int) -> ConvolutionRow {
    var arena = Arena(rows + channel &* rowSize)
    return ConvolutionRow(longSlots, &arena)
  }

  /// Forgets all sound. Worker.
  func clear() { setMemory(rows, 0, channels * rowSize) }
}
