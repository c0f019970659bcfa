import CJack
import Engine
import Realtime
import Synchronization

// Latencies as reported to other JACK clients. JACK's notification thread, which may lock.

extension JackState {
  /// Takes note that latencies have changed elsewhere.
  func noteLatencies(_ mode: jack_latency_callback_mode_t) {
    if let passesLater { passesLater(mode) } else { passLatencies(mode) }
  }

  /// Sets each port's latency: that of the ports which lead to it through the engine (or to which it leads),
  /// plus the engine's own.
  func passLatencies(_ mode: jack_latency_callback_mode_t) {
    let paths = latencies.withLock { $0 }
    if mode == JackCaptureLatency {
      for channel in 0..<channelCapacity {
        guard let port = audio(ports, channel) else { continue }
        set(mode, of: port, arriving(at: channel, by: paths))
      }
    } else {
      for channel in 0..<channelCapacity {
        guard let port = audio(ports, channelCapacity + channel) else { continue }
        set(mode, of: port, leaving(by: paths.filter { $0.origin.isInput(channel) }))
      }
      for number in 0..<MidiInput.ports {
        guard let port = audio(midiPorts, number) else { continue }
        set(mode, of: port, leaving(by: paths.filter { $0.origin == .midi(port: number) }))
      }
    }
    onChange()
  }

  /// Capture latency of an output channel: time since capture, or since the patch generated the sound.
  private func arriving(at channel: Int, by paths: [PathLatency]) -> jack_latency_range_t {
    let here = paths.filter { $0.channels.contains(channel) }
    var sum = Sum()
    for path in here {
      switch path.origin {
      case .input(let channels):
        for source in channels {
          sum.add(audio(ports, channelCapacity + source), JackCaptureLatency, path.frames)
        }
      case .midi(let number): sum.add(audio(midiPorts, number), JackCaptureLatency, path.frames)
      case .patch: break
      }
    }
    if let range = sum.range { return range }
    for path in here where path.origin == .patch { sum.add(jack_latency_range_t(), path.frames) }
    return sum.range ?? jack_latency_range_t()
  }

  /// Playback latency of an input: time until its sound is played.
  private func leaving(by paths: [PathLatency]) -> jack_latency_range_t {
    var sum = Sum()
    for path in paths {
      for channel in path.channels { sum.add(audio(ports, channel), JackPlaybackLatency, path.frames) }
    }
    return sum.range ?? jack_latency_range_t()
  }

  private func set(
    _ mode: jack_latency_callback_mode_t, of port: OpaquePointer, _ range: jack_latency_range_t
  ) {
    var range = range
    jack_port_set_latency_range(port, mode, &range)
  }

  private func audio(_ ports: UnsafeMutablePointer<Atomic<UInt>>, _ slot: Int) -> OpaquePointer? {
    guard (0..<2 * channelCapacity).contains(slot) else { return nil }
    return OpaquePointer(bitPattern: ports[slot].load(ordering: .acquiring))
  }

  /// Minimum and maximum of several latencies. An unconnected port counts only if none is connected.
  private struct Sum {
    private var connected: jack_latency_range_t?
    private var unconnected: jack_latency_range_t?

    var range: jack_latency_range_t? { connected ?? unconnected }

    mutating func add(
      _ port: OpaquePointer?, _ mode: jack_latency_callback_mode_t, _ frames: ClosedRange<Int>
    ) {
      guard let port else { return }
      var range = jack_latency_range_t()
      jack_port_get_latency_range(port, mode, &range)
      if jack_port_connected(port) > 0 {
        connected = Self.union(connected, range, frames)
      } else {
        unconnected = Self.union(unconnected, range, frames)
      }
    }

    mutating func add(_ range: jack_latency_range_t, _ frames: ClosedRange<Int>) {
      connected = Self.union(connected, range, frames)
    }

    private static func union(
      _ known: jack_latency_range_t?, _ range: jack_latency_range_t, _ frames: ClosedRange<Int>
    ) -> jack_latency_range_t {
      // Another program may tell any figure.
      let least = UInt32(clamping: Int(range.min) + frames.lowerBound)
      let most = UInt32(clamping: Int(range.max) + frames.upperBound)
      guard let known else { return jack_latency_range_t(min: least, max: most) }
      return jack_latency_range_t(min: min(known.min, least), max: max(known.max, most))
    }
  }
}
