import Patch
import Realtime

/// Another program on the JACK server. The driver connects its cables, so there is nothing to render.
public struct Client: Kernel {
  public static let description = KindDescription(
    name: "client",
    summary: "Another program on the JACK server: cables at it are connections that the server makes.",
    category: .endpoint,
    parameters: [
      ParameterDescription(
        "client", "Its name there, or a pattern such as firefox*; the node's name when empty.", form: .text,
        default: .text(""), smoothing: .none)
    ], endpoint: .client, amplification: .never, cost: .init(1))

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity { .silent }

  @_noLocks public mutating func isFinished() -> Bool { true }
}
