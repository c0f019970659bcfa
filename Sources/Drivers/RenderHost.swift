import Engine
import Realtime
import Synchronization

/// Maximum number of driver channels in each direction; `DriverChannels.capacity` in a form that the audio
/// thread may read.
var channelCapacity: Int { @_noLocks get { 256 } }

/// The audio thread's side of every driver: the table of channel pointers, the only way into the renderer,
/// and the measurement of the DSP load.
///
/// `close()` takes the renderer away from a driver, so that another may use it even if the first one's thread
/// still runs or hangs in a library. `reopen()` gives it back.
final class RenderHost: Sendable {
  /// 256 each, nil where the driver has no such channel. Audio thread.
  nonisolated(unsafe) let inputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  nonisolated(unsafe) let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// MIDI in both directions.
  let midi = MidiTraffic()
  /// Number of completed renders.
  let cycles = Atomic<Int>(0)
  let xruns = Atomic<Int>(0)

  /// The MIDI clock among what comes in, where the patch goes by it.
  let clock = ClockFollower()

  /// Fades of the outputs; nil: they are what was rendered.
  let fades: OutputFades?

  /// Cards beside the driver, and their owner. Assigned before the driver starts.
  nonisolated(unsafe) private var cards = CardTable.none
  nonisolated(unsafe) private var cardOwner: Cards?

  private let renderer: Renderer
  /// The same reference for the audio thread, without reference counting.
  private let borrowed: Unmanaged<Renderer>
  private let state = Atomic<UInt8>(RenderHost.open)
  /// Bits of two Floats. Stored by the audio thread alone.
  private let load = Atomic<UInt32>(0)
  private let peakLoad = Atomic<UInt32>(0)

  private static let open: UInt8 = 0
  private static let rendering: UInt8 = 1
  private static let closed: UInt8 = 2

  init(_ renderer: Renderer, fades: OutputFades? = nil) {
    self.renderer = renderer
    self.fades = fades
    borrowed = .passUnretained(renderer)
    inputs = .allocate(capacity: DriverChannels.capacity)
    inputs.initialize(repeating: nil, count: DriverChannels.capacity)
    outputs = .allocate(capacity: DriverChannels.capacity)
    outputs.initialize(repeating: nil, count: DriverChannels.capacity)
  }

  deinit {
    inputs.deallocate()
    outputs.deallocate()
    fades?.deallocate()
  }

  /// Sets the cards that play and record beside the driver, before that starts. Worker.
  func use(_ cards: Cards) { (self.cards, cardOwner) = (cards.table, cards) }

  /// Renders one period into the channels of the table. `budget`: duration of the period in nanoseconds, or 0
  /// to leave it out of the load, which is then `assumed`. `waitsForReaders`: there is no deadline, and sound for a worker that
  /// is late waits for it. `transport`: the server's. Returns false, and writes nothing, once closed. Audio thread.
  @_noLocks func render(
    frames: Int, budget: Int64, load assumed: Float = 0, waitsForReaders: Bool = false,
    transport: TransportInput? = nil
  ) -> Bool {
    guard
      state.compareExchange(
        expected: RenderHost.open, desired: RenderHost.rendering, ordering: .acquiring
      ).exchanged
    else { return false }
    let start = nanoseconds()
    let denormals = flushDenormals()
    enterRealtimeContext()
    let (inputs, outputs) = (inputs, outputs)
    let (midiInputs, midiOutputs) = (midi.inputs, midi.outputs)
    midi.begin(budget)
    // Without a deadline, as when JACK freewheels, there is room for everything.
    let load = budget > 0 ? Float(bitPattern: load.load(ordering: .relaxed)) : assumed
    let cards = cards
    cards.lend(inputs, outputs, frames: frames)
    let present = borrowed._withUnsafeGuaranteedRef { $0.present }
    let led = clock.follow(midiInputs, frames: frames, present.transport, at: present.time)
    borrowed._withUnsafeGuaranteedRef {
      $0.render(
        frames: frames, inputs: inputs, outputs: outputs, midi: midiInputs, midiOutputs: midiOutputs,
        load: load, waitsForReaders: waitsForReaders, transport: led ?? transport)
    }
    cards.take(inputs, outputs, frames: frames, time: start)
    if let fades { fades.apply(outputs, frames: frames) }
    midi.end()
    leaveRealtimeContext()
    restoreDenormals(denormals)
    if budget > 0 { measure(nanoseconds() &- start, of: budget) }
    cycles.store(cycles.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    state.store(RenderHost.open, ordering: .releasing)
    return true
  }

  @_noLocks private func measure(_ taken: Int64, of budget: Int64) {
    let share = Float(taken) / Float(budget)
    let old = Float(bitPattern: load.load(ordering: .relaxed))
    // One-pole smoothing over half a second: the coefficient is the period's length over the time constant.
    let weight = Float(budget) * 2e-9
    let new = old + (share - old) * (weight < 1 ? weight : 1)
    load.store(new.bitPattern, ordering: .relaxed)
    if share > Float(bitPattern: peakLoad.load(ordering: .relaxed)) {
      peakLoad.store(share.bitPattern, ordering: .relaxed)
    }
  }

  /// Counts a period that came late or not at all. Audio thread, or any other.
  @_noLocks func countXrun() {
    xruns.wrappingAdd(1, ordering: .relaxed)
  }

  /// The transport after its latest change, and the engine frame that comes next. Any thread.
  var transport: (state: Transport, time: Int64) { (renderer.transport, renderer.time) }

  /// Locks the audio thread out of the renderer, waiting for a render under way. Returns false if that did
  /// not end within `seconds`. Worker.
  func close(within seconds: Double = 2) -> Bool {
    let deadline = nanoseconds() + Int64(seconds * 1e9)
    while true {
      let result = state.compareExchange(
        expected: RenderHost.open, desired: RenderHost.closed, ordering: .acquiring)
      if result.exchanged || result.original == RenderHost.closed { return true }
      if nanoseconds() > deadline { return false }
      // A render takes less than a period, so check again after a fraction of one.
      sleep(until: nanoseconds() + 100_000)
    }
  }

  /// Lets the audio thread in again after `close`; nobody else may use the renderer. Worker.
  func reopen() {
    _ = state.compareExchange(
      expected: RenderHost.closed, desired: RenderHost.open, ordering: .acquiringAndReleasing)
  }

  /// Load, xruns and lost MIDI so far. Worker.
  var status: DriverStatus {
    var status = DriverStatus()
    status.load = Double(Float(bitPattern: load.load(ordering: .relaxed)))
    status.peakLoad = Double(Float(bitPattern: peakLoad.load(ordering: .relaxed)))
    status.xruns = xruns.load(ordering: .relaxed)
    status.lostMidi = midi.lost
    return status
  }
}
