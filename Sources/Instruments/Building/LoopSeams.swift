import Sampler

/// The seams of an instrument's loops, each made once for all regions that have it. Worker.
struct LoopSeams {
  private struct Key: Hashable {
    var base: UnsafeRawPointer
    var loop: SampleLoop
  }

  /// Longest loop without a crossfade that has a seam: the ends of longer ones pass too seldom.
  private static let longest = 8192
  /// Limits of the bytes of one seam, and of all; what has none is read frame by frame.
  private static let most = (one: 8 << 20, all: 64 << 20)

  private var seams: [Key: LoopSeam] = [:]
  private var memory: [UnsafeMutablePointer<Float>] = []
  private(set) var bytes = 0

  func free() { for frames in memory { frames.deallocate() } }

  /// Gives a region the seam of its loop.
  mutating func close(_ region: inout Region, isStereo: Bool) {
    let loop = SampleLoop(start: region.loopStart, end: region.loopEnd, crossfade: region.crossfade)
    guard region.stream == nil, region.loopMode == .continuous || region.loopMode == .sustain,
      loop.start >= 0, loop.end > loop.start, loop.crossfade > 0 || loop.end - loop.start <= Self.longest
    else { return }
    let key = Key(base: region.left.base, loop: loop)
    if let known = seams[key] {
      region.seam = known
      return
    }
    let size = LoopSeam.size(loop, sides: isStereo ? 2 : 1)
    guard size * 4 <= Self.most.one, bytes + size * 4 <= Self.most.all else { return }
    let frames = UnsafeMutablePointer<Float>.allocate(capacity: size)
    frames.initialize(repeating: 0, count: size)
    memory.append(frames)
    bytes += size * 4
    region.seam = LoopSeam(region.left, isStereo ? region.right : nil, loop, memory: frames)
    seams[key] = region.seam
  }
}
