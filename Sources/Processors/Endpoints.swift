import Patch
import Realtime

// The endpoints of the patch. The engine passes an endpoint's first driver channel as one more initial value
// than the kind has parameters: `values[description.parameters.count][0]`. It stays the same for the node's
// life.

private enum Endpoint {
  static let parameters: [ParameterDescription] = [
    .count("channels", "How many ports.", default: 2),
    ParameterDescription(
      "port", "Name of its ports; the node's name when empty.", form: .text, default: .text(""),
      smoothing: .none),
    ParameterDescription(
      "connect",
      "Ports of other programs that they lead to: names or patterns such as system:playback_*, with commas between. If there are as many names as channels, name n connects to channel n. `auto` connects to the sound card.",
      form: .text, default: .text("auto"), smoothing: .none),
    ParameterDescription(
      "device",
      "An ALSA device of its own, such as hw:2, whose clock is followed; the driver's ports when empty.",
      form: .text, default: .text(""), smoothing: .structural),
  ]

  static func firstChannel(_ configuration: KernelConfiguration) -> Int {
    Int(configuration.value(parameters.count))
  }
}

/// Sound from the driver.
public struct Input: Kernel {
  public static let description = KindDescription(
    name: "input", summary: "Sound from the driver: capture ports of its own.", category: .endpoint,
    outputs: [PortDescription("out", .parameter("channels"), "What the driver captured.")],
    parameters: Endpoint.parameters, endpoint: .input, face: .channels(), cost: .init(4, perChannel: 2))

  private let first: Int

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    first = Endpoint.firstChannel(configuration)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let output = block.outputs[0]
    let driver = block.driver.pointee
    var sounds = false
    var channel = 0
    while channel < output.count {
      let to = output[channel]
      if first &+ channel < DriverChannels.capacity, let from = driver.inputs[first &+ channel] {
        copyMemory(to, from + driver.offset, block.frames &* 4)
        sounds = true
      } else {
        setMemory(to, 0, block.frames &* 4)
      }
      channel &+= 1
    }
    return sounds ? .sounding : .silent
  }
}

/// Sound to the driver. Endpoints that share a channel are summed.
public struct Output: Kernel {
  public static let description = KindDescription(
    name: "output", summary: "Sound to the driver: playback ports of its own.", category: .endpoint,
    inputs: [PortDescription("in", .parameter("channels"), "What the driver is to play.")],
    parameters: Endpoint.parameters, endpoint: .output, face: .channels(), cost: .init(4, perChannel: 2))

  private let first: Int

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    first = Endpoint.firstChannel(configuration)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    guard !input.isSilent else { return .silent }
    let driver = block.driver.pointee
    var channel = 0
    while channel < input.count, first &+ channel < DriverChannels.capacity {
      if let target = driver.outputs[first &+ channel] {
        let to = target + driver.offset
        let from = input[channel]
        var frame = 0
        while frame < block.frames {
          to[frame] += from[frame]
          frame &+= 1
        }
      }
      channel &+= 1
    }
    return .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { true }
}
