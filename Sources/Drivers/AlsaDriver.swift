import CAlsa
import Engine
import Patch
import Realtime
import Recording
import Synchronization

/// Renders for an ALSA device on a thread of its own, for a machine without a JACK server.
public final class AlsaDriver: Driver, @unchecked Sendable {
  /// "alsa".
  public let name = "alsa"
  /// The device, for people.
  public let place: String
  /// Sample rate of the device, Hz.
  public let rate: Double
  /// Frames of the device's period.
  public let period: Int

  private let host: RenderHost
  private let playback: AlsaDevice
  private let capture = Atomic<UInt>(0)
  private var captureDevice: AlsaDevice?
  private var hasTriedCapture = false
  /// True when the patch wants more channels than were opened, and the device has them.
  public private(set) var isOutgrown = false
  private var thread: AudioThread?
  private let isStopping = Atomic<Bool>(false)
  /// ALSA's number of the error that ended it, or 0.
  private let error = Atomic<Int32>(0)
  private let routing: Routing
  private let sequencer: SequencerUse
  /// Engine channel c at `channels + c * period`; outputs, then inputs.
  private let channels: UnsafeMutablePointer<Float>
  private let mix: UnsafeMutablePointer<Float>

  /// Opens the device for that many channels, as far as it has them; throws if the device is missing or
  /// refuses the settings.
  public init(
    renderer: Renderer, device: String = "default", rate: Double = 48000, period: Int = 256,
    channels wanted: Int = 2, wishes: ConnectionWishes = ConnectionWishes()
  ) throws(DriverError) {
    playback = try AlsaDevice(device, isCapture: false, rate: rate, period: period, channels: wanted)
    self.rate = playback.rate
    self.period = playback.period
    place = "ALSA device \(device)"
    host = RenderHost(renderer, fades: OutputFades(rate: playback.rate, isHeard: true))
    sequencer = SequencerUse(host, wishes: wishes)
    routing = Routing(rate: self.rate)
    channels = .allocate(capacity: 2 * channelCapacity * self.period)
    channels.initialize(repeating: 0, count: 2 * channelCapacity * self.period)
    mix = .allocate(capacity: channelCapacity * self.period)
    mix.initialize(repeating: 0, count: channelCapacity * self.period)
  }

  deinit {
    routing.deallocate()
    channels.deallocate()
    mix.deallocate()
  }

  /// Starts the audio thread.
  public func start() throws(DriverError) {
    guard thread == nil else { return }
    thread = try startThread()
  }

  // Formed in a nonisolated function, as `AudioThread` requires.
  private nonisolated func startThread() throws(DriverError) -> AudioThread {
    try AudioThread(name: "alsa", priority: 60) { [self] in run() }
  }

  /// Sets the cards beside it.
  public func use(_ cards: Cards) { host.use(cards) }
  /// Sets the routing of channels, and opens the capture device at the first `input`.
  public func update(_ endpoints: [Endpoint]) {
    routing.update(endpoints)
    let inputs = endpoints.filter(\.isInput).map(\.channels).max() ?? 0
    let outputs = endpoints.filter { !$0.isInput && !$0.isTap }.map(\.channels).max() ?? 0
    isOutgrown =
      min(outputs, playback.mostChannels) > playback.channels
      || captureDevice.map { min(inputs, $0.mostChannels) > $0.channels } ?? false
    guard !hasTriedCapture, inputs > 0 else { return }
    hasTriedCapture = true
    // Without a capture device, inputs read as silence.
    guard
      let opened = try? AlsaDevice(
        playback.name, isCapture: true, rate: rate, period: period, channels: inputs),
      opened.rate == rate, opened.channels <= channelCapacity
    else { return }
    captureDevice = opened
    capture.store(UInt(bitPattern: Unmanaged.passUnretained(opened).toOpaque()), ordering: .releasing)
  }

  /// Sets the wanted MIDI ports.
  public func update(midi ports: [MidiPort]) { sequencer.update(ports) }
  /// Sets whose transport counts: a MIDI clock's, or the engine's own.
  public func update(transport mode: TransportMode) { host.clock.update(mode) }
  /// A clock that says where it is does as it likes.
  public func perform(_ change: TransportChange) -> Bool { host.clock.role == .clock }
  /// Source of the transport that counts now.
  public var transportRole: TransportRole { host.clock.role ?? .own }
  /// Reason why no MIDI arrives; nil while all is well.
  public var midiFault: String? { sequencer.fault }

  /// Bytes of a system exclusive message that came in a moment ago.
  public func bytes(of exclusive: Event) -> [UInt8]? { host.midi.bytes(of: exclusive) }

  /// Channels that the device has.
  public var device: DeviceChannels {
    DeviceChannels(inputs: captureDevice?.channels ?? 0, outputs: playback.channels)
  }

  /// Audio thread. Its ALSA calls are system calls that wait for the device; they set the pace.
  private func run() {
    let budget = Int64(Double(period) / rate * 1e9)
    var pace = Pace(rate: rate, buffer: playback.buffer, now: nanoseconds())
    while !isStopping.load(ordering: .relaxed) {
      readInputs()
      routing.lendOutputs(of: host, channels, period)
      let now = nanoseconds()
      host.midi.mergeArrivals(frames: period, length: budget, now: now)
      guard host.render(frames: period, budget: budget) else { return }
      host.midi.depart(frames: period, length: budget, now: now)
      routing.mix(host.outputs, from: 0, into: mix, channels: playback.channels, frames: period)
      switch playback.write(mix, frames: period, isOver: { isStopping.load(ordering: .relaxed) }) {
      case .done: break
      case .xrun:
        host.countXrun()
        pace.restart(now: nanoseconds())
      case .timeout:
        if !isStopping.load(ordering: .relaxed) { error.store(-ETIMEDOUT, ordering: .relaxed) }
        return
      case .failed(let code): return error.store(code, ordering: .relaxed)
      }
      if let due = pace.due(after: period, now: nanoseconds()) { sleep(until: due) }
    }
  }

  private func readInputs() {
    guard let pointer = UnsafeRawPointer(bitPattern: capture.load(ordering: .acquiring)) else { return }
    let device = Unmanaged<AlsaDevice>.fromOpaque(pointer).takeUnretainedValue()
    switch device.read(mix, frames: period) {
    case .done, .timeout: break
    case .xrun: host.countXrun()
    case .failed:
      // The capture device is gone, the playback device is not. Inputs are silent; they never repeat old
      // samples.
      capture.store(0, ordering: .relaxed)
      for channel in 0..<channelCapacity { host.inputs[channel] = nil }
      return
    }
    let inputs = channels + channelCapacity * period
    for channel in 0..<channelCapacity {
      let source = routing.source(channel)
      guard source >= 0, source < device.channels else {
        host.inputs[channel] = nil
        continue
      }
      let samples = inputs + channel * period
      for frame in 0..<period { samples[frame] = mix[frame * device.channels + source] }
      host.inputs[channel] = UnsafePointer(samples)
    }
  }

  /// Fades out, until the device has played that.
  public func withdraw() {
    guard thread != nil, error.load(ordering: .relaxed) == 0 else { return }
    let inDevice = Double(playback.buffer) / rate
    host.fades?.close(within: min(OutputFades.seconds + 0.02 + 2 * inDevice, 0.5))
    sleep(until: nanoseconds() + Int64(min(inDevice, 0.2) * 1e9))
  }

  /// Fades in again.
  public func rejoin() { host.fades?.open() }

  /// Stops the thread and closes the devices, within two seconds.
  public func stop() {
    withdraw()
    isStopping.store(true, ordering: .relaxed)
    _ = host.close()
    sequencer.stop()
    // A device may hang in a call for ever. The resources of its thread stay until it ends; then others may
    // open the device.
    _ = Watched.call(within: 2) { [self] in
      thread?.join()
      playback.close()
      captureDevice?.close()
      return true
    }
  }

  /// Load, xruns, latency and failure so far.
  public var status: DriverStatus {
    var status = host.status
    status.roundTrip = Double(playback.buffer + (captureDevice == nil ? 0 : period)) / rate
    let code = error.load(ordering: .relaxed)
    if code == -ENODEV {
      status.failure = "\(place) was unplugged"
    } else if code != 0 {
      status.failure = "\(place) stopped: \(AlsaDevice.describe(code))"
    }
    return status
  }
}
