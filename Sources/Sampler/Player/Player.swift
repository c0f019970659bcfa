import Patch
import Realtime

/// The player: plays one audio file.
///
/// A head is a playing position in the file. Interruptions (`stop`, a jump, another file) fade the head out
/// over 10 ms in place, while another may begin elsewhere.
public struct Player: Kernel {
  public static let description = KindDescription(
    name: "player",
    summary: "Plays an audio file; `play`, `stop` and `cue` edits move it.",
    category: .source,
    inputs: [PortDescription("in", .events, "Play, stop and cue; any note plays from the beginning.")],
    outputs: [
      PortDescription("out", .parameter("channels"), "The file's channels; a mono file goes to all.")
    ],
    parameters: [
      ParameterDescription(
        "file", "The audio file.", form: .file(.audio), default: .text(""), smoothing: .none),
      ParameterDescription(
        "loop", "Starts again at the end.", form: .toggle, default: .text("off"), smoothing: .kernel),
      ParameterDescription(
        "autoplay", "Starts to play when the file has been loaded.", form: .toggle, default: .text("off"),
        smoothing: .kernel),
      ParameterDescription(
        "rate", "Speed; negative plays backwards.", range: -4...4, default: .number(1, .none)),
      ParameterDescription(
        "level", "Loudness.", unit: .decibels, range: -Double.infinity...24, default: .number(0, .decibels)),
      ParameterDescription(
        "channels", "Channels of the output.", form: .integer, range: 1...64, default: .number(2, .none),
        smoothing: .structural),
    ], face: .level, cost: .init(0, perChannel: 400))

  enum Parameter {
    static var loop: Int { @_noLocks get { 1 } }
    static var autoplay: Int { @_noLocks get { 2 } }
    static var rate: Int { @_noLocks get { 3 } }
    static var level: Int { @_noLocks get { 4 } }
  }

  /// The sounding head, and the maximum number of fading ones.
  static var heads: Int { @_noLocks get { 8 } }

  let pool: UnsafeMutablePointer<PlayerHead>
  /// Slots of the pool up to the last that may be in use.
  private var used = 0
  private let kernels: SincKernels.Tables
  private let quality: QualityChoice
  /// Load of the driver in this block.
  private var load: Float = 0
  var image: UnsafeMutablePointer<AudioImage>?
  var sampleRate: Double
  var isLooping: Bool
  var isAutoplay: Bool
  /// Playing, or waiting to play as soon as there is a file.
  private(set) var isPlaying = false
  /// Start position of the next `play`, in frames of the file (32.32).
  var cuePosition: Int64 = 0
  /// Frame of a streamed file whose chunk is kept in memory for the next start (-1: none).
  private var kept = -1
  /// Start position in seconds, until the file arrives.
  private var cueSeconds: Double = 0

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Self(configuration, &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    self.init(configuration, &arena)
    pool.initialize(repeating: PlayerHead(quality: 0), count: Self.heads)
  }

  /// Takes its memory without touching it.
  private init(_ configuration: KernelConfiguration, _ arena: inout Arena) {
    pool = arena.take(PlayerHead.self, Self.heads)
    kernels = SincKernels.shared.tables
    quality = QualityChoice(configuration.quality)
    sampleRate = configuration.rate
    isLooping = configuration.value(Parameter.loop) >= 0.5
    isAutoplay = configuration.value(Parameter.autoplay) >= 0.5
  }

  public var voices: Int { @_noLocks get { pool[0].image == nil ? 0 : 1 } }

  @_noLocks public mutating func isFinished() -> Bool {
    // While a file is awaited the renderer must keep asking, since the arrival of a file wakes no node.
    if image == nil, isPlaying || isAutoplay { return false }
    for index in 0..<Self.heads where pool[index].image != nil { return false }
    return true
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    switch parameter {
    case Parameter.loop: isLooping = value >= 0.5
    case Parameter.autoplay: isAutoplay = value >= 0.5
    default: break
    }
  }

  @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {
    let old = image
    let place = pool[0].image != nil ? pool[0].position : cuePosition
    fadeHead()
    leaveCue()
    image = nil
    defer { if let old { old.pointee.header.count(-1) } }
    guard let resource, resource.pointee.type == AudioImage.type else { return }
    let new = UnsafeMutableRawPointer(resource).assumingMemoryBound(to: AudioImage.self)
    new.pointee.header.count(1)
    image = new
    if let old, old.pointee.identity == new.pointee.identity {
      // The same file at another rate: continues at the same moment.
      cuePosition = Int64(Double(place) * (new.pointee.rate / old.pointee.rate))
    } else {
      if old != nil { cueSeconds = 0 }
      cuePosition = position(seconds: cueSeconds)
    }
    if isAutoplay, old == nil { isPlaying = true }
    if isPlaying { startHead(fades: old != nil) }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    load = block.load
    for channel in 0..<block.outputs[0].count {
      var frame = 0
      while frame < blockCapacity {
        store(SIMD16(repeating: 0), block.outputs[0][channel] + frame)
        frame &+= 16
      }
    }
    var sounded = false
    var frame = 0
    for index in 0..<block.events.pointee.count {
      let event = block.events.pointee[index]
      let offset = Int(event.offset)
      if offset > frame {
        let end = offset < block.frames ? offset : block.frames
        if render(block, from: frame, to: end) { sounded = true }
        frame = end
      }
      handle(event)
    }
    if frame < block.frames, render(block, from: frame, to: block.frames) { sounded = true }
    return sounded ? .sounding : .silent
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    sampleRate = new
  }

  // MARK: Transport

  @_noLocks private mutating func handle(_ event: Event) {
    switch event.kind {
    case .play:
      if event.time.isFinite {
        fadeHead()
        cue(event.time)
      } else if isPlaying {
        return
      }
      isPlaying = true
      startHead()
    case .noteOn:
      fadeHead()
      cue(0)
      isPlaying = true
      startHead()
    case .stop:
      if pool[0].image != nil { cuePosition = pool[0].position }
      keepCue()
      isPlaying = false
      fadeHead()
    case .cue:
      fadeHead()
      cue(event.time.isFinite ? event.time : 0)
      if isPlaying { startHead() }
    case .allSoundOff:
      isPlaying = false
      fadeHead()
    default: break
    }
  }

  @_noLocks private mutating func cue(_ seconds: Double) {
    cueSeconds = seconds > 0 ? seconds : 0
    cuePosition = position(seconds: cueSeconds)
    keepCue()
  }

  @_noLocks private mutating func keepCue() {
    guard let stream = image?.pointee.stream else { return }
    leaveCue()
    kept = Int(cuePosition >> 32)
    stream.pointee.keep(kept, true)
  }

  @_noLocks private mutating func leaveCue() {
    if kept >= 0, let stream = image?.pointee.stream { stream.pointee.keep(kept, false) }
    kept = -1
  }

  @_noLocks private func position(seconds: Double) -> Int64 {
    guard let image else { return 0 }
    let frame = seconds * image.pointee.rate
    let last = Double(image.pointee.frames)
    // Rounded to a frame, so that a cue at a frame's time plays that frame unaltered.
    return Int64((frame < last ? frame : last) + 0.5) &<< 32
  }

  /// Starts a head at the cue point: at once at the file's start, otherwise with a fade. `fades`: with one there too, since the
  /// file takes the place of another that sounds.
  @_noLocks private mutating func startHead(fades: Bool = false) {
    guard let image else { return }
    var head = PlayerHead(quality: quality.points(load: load))
    head.image = image
    head.position = cuePosition
    image.pointee.header.count(1)
    if cuePosition > 0 || fades {
      head.fade = Ramp(0)
      head.fade.move(to: 1, over: Int(0.010 * sampleRate))
    }
    pool[0] = head
    used = used > 1 ? used : 1
  }

  /// Fades the sounding head out and frees slot 0.
  @_noLocks private mutating func fadeHead() {
    guard pool[0].image != nil else { return }
    var slot = 1
    for index in 1..<Self.heads {
      if pool[index].image == nil {
        slot = index
        break
      }
      // All slots are in use: the head nearest to silence is dropped.
      if pool[index].fade.framesLeft < pool[slot].fade.framesLeft { slot = index }
    }
    end(slot)
    used = used > slot ? used : slot &+ 1
    pool[slot] = pool[0]
    pool[0].image = nil
    pool[slot].fade.move(to: 0, over: Int(0.010 * sampleRate))
    pool[slot].isLeaving = true
  }

  @_noLocks private func end(_ slot: Int) {
    if let image = pool[slot].image { image.pointee.header.count(-1) }
    pool[slot].image = nil
  }

  // MARK: Sound

  @_noLocks private mutating func render(_ block: Block, from: Int, to: Int) -> Bool {
    var sounded = false
    let scratch = PlayerHead.Scratch(block.scratch, kernels)
    while used > 0, pool[used &- 1].image == nil { used &-= 1 }
    for slot in 0..<used where pool[slot].image != nil {
      sounded = true
      pool[slot].render(block, from: from, to: to, isLooping: isLooping, rate: sampleRate, scratch)
      if pool[slot].hasEnded || (pool[slot].isLeaving && !pool[slot].fade.isMoving) {
        if slot == 0 {
          isPlaying = false
          cuePosition = 0
          cueSeconds = 0
        }
        end(slot)
      }
    }
    return sounded
  }

  /// Worker.
  public mutating func release() {
    for slot in 0..<Self.heads {
      pool[slot].image?.pointee.header.returned += 1
      pool[slot].image = nil
    }
    leaveCue()
    image?.pointee.header.returned += 1
    image = nil
  }
}
