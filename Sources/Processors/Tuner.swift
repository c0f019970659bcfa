import Patch
import Realtime

/// Tells the note of a sound, and passes it.
public struct Tuner: Kernel {
  public static let description = KindDescription(
    name: "tuner", summary: "Tells the note of a sound and how far it is off, and passes it as it is.",
    category: .mixing, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .frequency("reference", "Frequency of A4.", default: 440, range: 390...490)
    ], face: .level, amplification: .never, cost: .init(1200, perChannel: 10),
    readings: [
      ReadingDescription("note", "The nearest key.", unit: .key),
      ReadingDescription("off", "By how much it is higher.", unit: .cents),
      ReadingDescription("frequency", "Pitch of all channels together; 0: none.", unit: .hertz),
    ])

  /// Position in `description.parameters`.
  public static var reference: Int { @_noLocks get { 0 } }

  private var finder: PitchFinder
  private var tuned: Float = 440
  private var isAsleep = true
  private var quiet = 0

  public static var worksInPlace: Bool { true }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    PitchFinder.size(Float(configuration.rate))
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    finder = PitchFinder(Float(configuration.rate), &arena)
    finder.clear()
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    var other = PitchFinder(finder.rate, &arena)
    other.take(finder)
    finder = other
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    var arena = Arena(memory ?? finder.memory)
    finder = PitchFinder(Float(new), &arena)
    finder.clear()
  }

  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    if isAsleep, input.isSilent { return .silent }
    isAsleep = false
    if !input.isSilent { quiet = 0 }
    tuned = limited(block.parameters[Self.reference].value(0), 390, 490)
    if input.isSilent {
      finder.hear(nil, block.frames)
    } else {
      let sum = block.scratch.assumingMemoryBound(to: Float.self)
      sum.fill(0)
      var channel = 0
      while channel < input.count {
        var frame = 0
        while frame < block.frames {
          sum.store(
            addProduct(sum.vector(frame), input[channel].vector(frame), sumWeight(of: channel)), frame)
          frame &+= 16
        }
        channel &+= 1
      }
      finder.hear(sum, block.frames)
    }
    if (block.time &+ Int64(block.frames)) % PitchFinder.interval(block.rate) == 0 {
      finder.find()
      quiet &+= 1
    }
    return passOn(block)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    if quiet > 64 { isAsleep = true }
    return isAsleep
  }

  @_noLocks public func reading(_ position: Int) -> Float {
    guard finder.frequency > 0, finder.clarity > 0.7 else { return 0 }
    let key = 69 + 12 * logarithm2(finder.frequency / tuned)
    let nearest = Float(Int(key + 0.5))
    return position == 0 ? nearest : position == 1 ? (key - nearest) * 100 : finder.frequency
  }
}
