import Patch
import Realtime

/// Passes its input on. While a take runs (`record`), a kernel of this kind, which no patch has, hands what it
/// hears to the thread that writes the file.
public struct Record: Kernel {
  public static let description = KindDescription(
    name: "record", summary: "Passes sound on; `record` writes it to its file, until `record … off`.",
    category: .mixing,
    inputs: [PortDescription("in", .flexible, "What is recorded.")],
    outputs: [PortDescription("out", .flexible, "The same.")],
    parameters: [
      ParameterDescription(
        "file",
        "Where `record` writes, from the patch's folder on: .wav, .flac, .ogg or .opus; a name that is taken gets a number.",
        form: .text, default: .text(""), smoothing: .none),
      ParameterDescription(
        "format", "Samples of the file; FLAC has 24 bits at most.",
        form: .choice(["float32", "pcm24", "pcm16"]), range: 0...2, default: .text("float32"),
        smoothing: .none),
    ], amplification: .never, cost: .init(4, perChannel: 2))

  private var feed = FeedHold()

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  public static var worksInPlace: Bool { true }

  @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) { feed.use(resource) }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    feed.write(
      block.inputs[0], frames: block.frames, time: block.time,
      waitsForReaders: block.driver.pointee.waitsForReaders)
    return passOn(block)
  }

  /// Silence is not written: the frames that are missing are silent.
  @_noLocks public mutating func isFinished() -> Bool { true }

  public mutating func release() { feed.release() }
}
