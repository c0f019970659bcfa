import CVector
import Patch
import Realtime

/// The pitch of a sound as a signal.
public struct Pitchfollower: Kernel {
  public static let description = KindDescription(
    name: "pitchfollower", summary: "The pitch of a sound as a signal, of one voice a channel.",
    category: .modulation, inputs: [PortDescription("in", .flexible)],
    outputs: [
      PortDescription(
        "pitch", .flexible, "Octaves above A4, from 40 Hz to 2.5 kHz; stays where there is none."),
      PortDescription("gate", .flexible, "1 while there is a clear pitch, else 0."),
    ],
    parameters: [.percent("clarity", "How periodic the sound has to be.", default: 85)], face: .level,
    amplification: .possible, cost: .init(50, perChannel: 1200),
    readings: [ReadingDescription("frequency", "Pitch of the first channel; 0: none.", unit: .hertz)])

  /// Position in `description.parameters`.
  public static var clarity: Int { @_noLocks get { 0 } }

  /// One channel.
  struct Voice: BitwiseCopyable {
    var finder: PitchFinder
    var pitch: Float = 0
    var isClear = false
  }

  private var all: UnsafeMutablePointer<Voice>
  private var channels: Int
  private var rate: Float
  private var isAsleep = true
  /// Looks since anything was heard, and how many of them are enough.
  private var quiet = 0
  private static var patience: Int { @_noLocks get { 64 } }

  @_noLocks private static func size(_ channels: Int, _ rate: Float) -> Int {
    (channels &* MemoryLayout<Voice>.stride &+ 63) & ~63 &+ channels &* PitchFinder.size(rate)
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    size(configuration.inputs[0], Float(configuration.rate))
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    (channels, rate) = (configuration.inputs[0], Float(configuration.rate))
    all = Self.voices(channels, rate, memory)
  }

  @_noLocks private static func voices(
    _ channels: Int, _ rate: Float, _ memory: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<Voice> {
    var arena = Arena(memory)
    let voices = arena.reserve(channels &* MemoryLayout<Voice>.stride).assumingMemoryBound(to: Voice.self)
    var channel = 0
    while channel < channels {
      voices[channel] = Voice(finder: PitchFinder(rate, &arena))
      voices[channel].finder.clear()
      channel &+= 1
    }
    return voices
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let count = widening.inputs[0]
    let wide = Self.voices(count, rate, memory)
    var channel = 0
    while channel < count {
      let from = widening.source(of: channel, from: channels, to: count)
      if from >= 0, from < channels {
        wide[channel].finder.take(all[from].finder)
        (wide[channel].pitch, wide[channel].isClear) = (all[from].pitch, all[from].isClear)
      }
      channel &+= 1
    }
    (all, channels) = (wide, count)
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    // The memory holds another pitch by now; the last one found stays.
    let before = (0..<channels).map { (all[$0].pitch, all[$0].isClear) }
    rate = Float(new)
    all = Self.voices(channels, rate, memory ?? UnsafeMutableRawPointer(all))
    for channel in 0..<channels { (all[channel].pitch, all[channel].isClear) = before[channel] }
  }

  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, pitch, gate) = (block.inputs[0], block.outputs[0], block.outputs[1])
    if isAsleep, input.isSilent { return .silent }
    isAsleep = false
    if !input.isSilent { quiet = 0 }
    let end = block.time &+ Int64(block.frames)
    let isDue = end % PitchFinder.interval(rate) == 0
    if isDue { quiet &+= 1 }
    let least = limited(block.parameters[Self.clarity].value(0, at: block.frames &- 1) * 0.01, 0, 1)
    var channel = 0
    while channel < channels {
      let voice = all + channel
      pitch[channel].fill(voice.pointee.pitch)
      gate[channel].fill(voice.pointee.isClear ? 1 : 0)
      // Everything that it has heard is silent by then.
      if quiet > Self.patience {
        channel &+= 1
        continue
      }
      voice.pointee.finder.hear(input.isSilent ? nil : input[channel], block.frames)
      if isDue {
        voice.pointee.finder.find()
        voice.pointee.isClear = voice.pointee.finder.frequency > 0 && voice.pointee.finder.clarity >= least
        if voice.pointee.isClear { voice.pointee.pitch = voice.pointee.finder.octaves }
      }
      channel &+= 1
    }
    return .sounding
  }

  /// Once it has heard nothing but silence for long, if no pitch is to stay.
  @_noLocks public mutating func isFinished() -> Bool {
    guard quiet > Self.patience else { return false }
    var channel = 0
    while channel < channels {
      if all[channel].pitch != 0 { return false }
      channel &+= 1
    }
    isAsleep = true
    return true
  }

  /// Hz.
  @_noLocks public func reading(_ position: Int) -> Float { all[0].isClear ? all[0].finder.frequency : 0 }
}
