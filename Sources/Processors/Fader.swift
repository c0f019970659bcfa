import Patch
import Realtime

/// Goes from one sound to another.
public struct Fader: Kernel {
  public static let description = KindDescription(
    name: "crossfade", summary: "Goes from one sound to another.", category: .mixing,
    inputs: [
      PortDescription("a", .flexible, "It states the channels."),
      PortDescription("b", .flexible, "Its channels repeat where `a` has more."),
    ],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .percent("mix", "How much of it is `b`.", default: 50),
      .choice(
        "law",
        "`linear`: constant level for identical inputs. `power`: constant level for unrelated inputs.",
        ["linear", "power"]),
    ], amplification: .never, cost: .init(8, perChannel: 4))

  /// Positions in `description.parameters`.
  public static var mix: Int { @_noLocks get { 0 } }
  public static var law: Int { @_noLocks get { 1 } }

  public static var worksInPlace: Bool { true }
  public static var isAffine: Bool { true }
  public static var addendInput: Int? { 1 }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func affine(_ block: Block, _ channels: UnsafeMutablePointer<Affine>) -> Bool {
    let (a, output, law) = (block.inputs[0], block.outputs[0], block.crossfades[Self.law])
    guard a.count >= output.count, law.blend == nil else { return false }
    let gains = Gains(Frames(repeating: block.parameters[Self.mix].value(0)), law, 0)
    let addend = block.inputs[1].isConnected ? gains.b[0] : 0
    var channel = 0
    while channel < output.count {
      channels[channel] = Affine(factor: gains.a[0], addend: addend)
      channel &+= 1
    }
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (a, b, output) = (block.inputs[0], block.inputs[1], block.outputs[0])
    guard !a.isSilent || !b.isSilent else { return .silent }
    let (mix, law) = (block.parameters[Self.mix], block.crossfades[Self.law])
    guard mix.isSteady, law.blend == nil else { return move(block) }
    let gains = Gains(Frames(repeating: mix.value(0)), law, 0)
    if b.isSilent { return soften(block, gains.a) }
    let channels = output.count < a.count ? output.count : a.count
    var (channel, other) = (0, 0)
    while channel < channels {
      let (x, to) = (a[channel], output[channel])
      let y = b[other]
      let (p, q) = (
        x.vector(0) * gains.a + y.vector(0) * gains.b, x.vector(16) * gains.a + y.vector(16) * gains.b
      )
      let (r, s) = (
        x.vector(32) * gains.a + y.vector(32) * gains.b, x.vector(48) * gains.a + y.vector(48) * gains.b
      )
      to.store(p + 0, 0)
      to.store(q + 0, 16)
      to.store(r + 0, 32)
      to.store(s + 0, 48)
      channel &+= 1
      other = other &+ 1 < b.count ? other &+ 1 : 0
    }
    return .sounding
  }

  /// The same without a sound at `b`.
  @inline(never) @_noLocks private func soften(_ block: Block, _ gain: Frames) -> Activity {
    let (a, output) = (block.inputs[0], block.outputs[0])
    let channels = output.count < a.count ? output.count : a.count
    var channel = 0
    while channel < channels {
      multiplyWhole(a[channel], gain[0], to: output[channel])
      channel &+= 1
    }
    return .sounding
  }

  /// The same while the place or the law moves.
  @inline(never) @_noLocks private func move(_ block: Block) -> Activity {
    let (a, b, output) = (block.inputs[0], block.inputs[1], block.outputs[0])
    let (mix, law) = (block.parameters[Self.mix], block.crossfades[Self.law])
    let channels = output.count < a.count ? output.count : a.count
    var (channel, other) = (0, 0)
    while channel < channels {
      let to = output[channel]
      var frame = 0
      while frame < block.frames {
        let gains = Gains(mix.vector(channel, frame), law, frame)
        var sum = a[channel].vector(frame) * gains.a
        if !b.isSilent { sum += b[other].vector(frame) * gains.b }
        to.store(sum + 0, frame)
        frame &+= 16
      }
      channel &+= 1
      other = other &+ 1 < b.count ? other &+ 1 : 0
    }
    return .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { true }

  /// Factors of both sounds in sixteen frames.
  private struct Gains {
    let a, b: Frames

    @inline(__always) @_noLocks init(_ percent: Frames, _ law: CrossfadeStream, _ frame: Int) {
      let m = limited(percent * 0.01, 0, 1)
      if law.blend == nil, law.new == 0 {
        (a, b) = (1 - m, m)
        return
      }
      // The sum of their squares is one.
      let (cosine, sine) = (sineOfQuarters(1 - m), sineOfQuarters(m))
      if let blend = law.blend {
        let share = blend.vector(frame)
        let power = share * law.new + (1 - share) * law.old
        a = (1 - m) * (1 - power) + cosine * power
        b = m * (1 - power) + sine * power
      } else {
        (a, b) = (cosine, sine)
      }
    }
  }
}
