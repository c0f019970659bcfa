import Engine
import Patch
import Realtime

/// A port whose sound a view looks at.
public struct ListenedPort: Hashable, Sendable {
  /// The node.
  public var node: NodeID
  /// Name of an audio output, of an audio input, or of a parameter that cables move.
  public var port: String
  /// It is an input or a parameter.
  public var isInput: Bool

  /// The port of that name.
  public init(_ node: NodeID, _ port: String, isInput: Bool) {
    self.node = node
    self.port = port
    self.isInput = isInput
  }
}

/// Sound of the port that is listened to, since the last look.
public struct ListenedSound: Sendable {
  /// The port.
  public var port: ListenedPort
  /// Sample rate, Hz.
  public var rate: Double
  /// Number of frames.
  public var frames = 0
  /// Samples by channel.
  public var samples: [[Float]]
  /// Frames before these were lost, or it is the first look.
  public var isBroken = false
}

/// The capture behind it.
struct Listening {
  let port: ListenedPort
  let capture: NodeID
  let point: Engine.CapturePoint
  let feed: FeedReader
  let rate: Double
  /// Engine time up to which it was read.
  var heard: Int64
  var lost: Int64 = 0
  var isFresh = true
}

extension Session {
  /// Seconds that a look gives at most.
  private static let longestLook = 2.0

  /// Begins to listen to a port, in place of the one before; nil: to none. A port that is not there is silent until it
  /// is. Main thread.
  public func listen(to port: ListenedPort?) {
    wantedPort = port
    followListening()
  }

  /// Begins and ends captures, as the port comes and goes, widens, or has another rate.
  private func followListening() {
    let point = wantedPort.flatMap { port in
      port.isInput
        ? engine.capturePoint(of: port.node, input: port.port)
        : engine.capturePoint(of: port.node, port: port.port)
    }
    if let old = listening {
      if let wantedPort, old.port == wantedPort, old.point == point, old.rate == engine.rate { return }
      engine.endCapture(old.capture)
      listening = nil
    }
    guard let wantedPort, let point else { return }
    let feed = FeedReader(
      channels: point.channels, frames: Int(engine.rate * Self.longestLook), name: "analysis")
    let capture = engine.beginCapture(point, feed: feed.resource)
    listening = Listening(
      port: wantedPort, capture: capture, point: point, feed: feed, rate: engine.rate,
      heard: engine.renderer.time & ~63)
  }

  /// The sound since the last look; nil: the port is not there. Main thread.
  public func takeListened() -> ListenedSound? {
    followListening()
    guard var listening else { return nil }
    // Cells end at multiples of 64 frames: those before are complete, and what they lack was silent.
    let horizon = engine.renderer.time & ~63
    let most = Int64(listening.rate * Self.longestLook) & ~63
    let start = max(listening.heard, horizon - most)
    let frames = Int(max(0, horizon - start))
    var sound = ListenedSound(
      port: listening.port, rate: listening.rate, frames: frames,
      samples: Array(repeating: Array(repeating: 0, count: frames), count: listening.point.channels),
      isBroken: listening.isFresh || start > listening.heard || listening.feed.lost > listening.lost)
    listening.feed.read(before: horizon) { cell, samples in
      let place = Int(cell.time - start)
      guard place >= 0, place + cell.frames <= frames else { return true }
      for channel in sound.samples.indices {
        sound.samples[channel].withUnsafeMutableBufferPointer { list in
          for frame in 0..<cell.frames { list[place + frame] = samples[channel * 64 + frame] }
        }
      }
      return true
    }
    listening.heard = max(listening.heard, horizon)
    listening.lost = listening.feed.lost
    listening.isFresh = false
    self.listening = listening
    return sound
  }
}
