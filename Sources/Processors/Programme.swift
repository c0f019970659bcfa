import Realtime

/// Integrated loudness of ITU-R BS.1770-4: the mean power of the blocks of 400 ms above -70 LUFS that are at most 10 LU below the
/// mean of all of those. How many blocks there were, and their power, is kept in bins of a tenth of a decibel, so that hours need
/// no more memory than seconds, and what is summed is no rounded loudness.
struct Programme: BitwiseCopyable {
  /// Bins from -70 LUFS up. The last one has all that is louder.
  private static var bins: Int { @_noLocks get { 1024 } }
  /// Bytes of its memory, which begins as zeros.
  static var size: Int { bins * 16 }

  /// Powers summed, and their number.
  private var powers, counts: UnsafeMutablePointer<Double>
  private var power = 0.0
  private var count = 0.0
  /// In LUFS; -100: none.
  private(set) var loudness: Float = -100

  init(_ memory: UnsafeMutableRawPointer) {
    powers = memory.assumingMemoryBound(to: Double.self)
    counts = powers + Self.bins
    clear()
  }

  @_noLocks mutating func clear() {
    setMemory(UnsafeMutableRawPointer(powers), 0, Self.bins &* 16)
    (power, count, loudness) = (0, 0, -100)
  }

  @_noLocks mutating func move(to memory: UnsafeMutableRawPointer) {
    copyMemory(memory, powers, Self.bins &* 16)
    powers = memory.assumingMemoryBound(to: Double.self)
    counts = powers + Self.bins
  }

  /// Loudness of a power, in LUFS.
  @_noLocks private static func loudness(_ power: Double) -> Float {
    3.010_3 * logarithm2(Float(power)) - 0.691
  }

  /// Bin of a loudness; negative: it is below the gate.
  @_noLocks private static func bin(_ loudness: Float) -> Int {
    let place = (loudness + 70) * 10
    guard place >= 0 else { return -1 }
    return place < Float(bins &- 1) ? Int(place) : bins &- 1
  }

  /// Takes the mean power of a block.
  @_noLocks mutating func take(_ power: Double) {
    guard power > 1e-8 else { return }
    let bin = Self.bin(Self.loudness(power))
    guard bin >= 0 else { return }
    powers[bin] += power
    counts[bin] += 1
    self.power += power
    count += 1
    let gate = self.power / count * 0.1
    var (index, sum, number) = (Self.bin(Self.loudness(gate)), 0.0, 0.0)
    if index < 0 { index = 0 }
    // Of the gate's own bin, which it cuts, the mean says where most are.
    if powers[index] < gate * counts[index] { index &+= 1 }
    while index < Self.bins {
      sum += powers[index]
      number += counts[index]
      index &+= 1
    }
    loudness = number > 0 ? Self.loudness(sum / number) : -100
  }
}
