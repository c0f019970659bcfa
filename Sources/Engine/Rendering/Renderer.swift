import CVector
import Realtime
import Synchronization

/// Executes the plan. All methods run on the driver's thread. The engine sends it `commands`, and reads its
/// atomics and the runners' trace.
public final class Renderer: @unchecked Sendable {
  /// Transactions, worker to audio thread.
  let commands = Ring(capacity: 4096, of: SealedTransaction.self)
  /// Enables the level meters, while a view shows them.
  let isMetering = Atomic<Bool>(false)
  /// Measures the driver's outputs for the edit log.
  let watch: OutputWatch
  /// Number of executed transactions. They are executed in order, so this count tells the worker which plans
  /// and memory are unused. Nothing travels back, and no return queue can overflow.
  let executed = Atomic<Int>(0)
  private let frameTime = Atomic<Int64>(0)
  /// The transport after its latest change. Any thread.
  public var transport: Transport { transportCell.load() }
  private let transportCell: TransportCell

  // Audio thread only.
  private var plan: UnsafeMutablePointer<Plan>?
  private(set) var now: Int64 = 0
  private var rate: Float
  /// Load of the driver in this period.
  private var load: Float = 0
  /// See `RenderJob.moves`.
  private var moves: UInt32 = 1
  /// The transaction within the block.
  private let split: UnsafeMutablePointer<BlockSplit>
  /// Number of blocks so far.
  private(set) var blocks = 0
  private var tape: UnsafeMutablePointer<InputTape>?
  private var maps: UnsafeMutablePointer<MapTable>?
  private(set) var notes: UnsafeMutablePointer<NoteTable>?
  /// The transaction under way changes what the lengths of notes are, or which there are.
  private var changesNotes = false
  private var changesTable = false
  /// Movements of maps (`MapSlot.Movement`), and events while a controller is chosen (`MapTable.Heard`); audio thread to
  /// worker.
  let movements = Ring(capacity: 4096, of: MapSlot.Movement.self)
  let heard = Ring(capacity: 1024, of: MapTable.Heard.self)
  private let driver: UnsafeMutablePointer<DriverChannels>
  private let transportState: UnsafeMutablePointer<Transport>
  let team: UnsafeMutablePointer<RenderTeam>

  /// 64 silent channels, each as long as any read.
  let zeros: UnsafePointer<UnsafePointer<Float>>

  /// Worker.
  init(rate: Double, threads: Int) {
    self.rate = Float(rate)
    watch = OutputWatch(rate: rate)
    let silence = UnsafeMutablePointer<Float>.zeroed(3 * blockCapacity)
    let channels: UnsafeMutablePointer<UnsafePointer<Float>> = .allocate(capacity: blockCapacity)
    channels.initialize(repeating: UnsafePointer(silence), count: blockCapacity)
    zeros = UnsafePointer(channels)
    driver = .allocate(capacity: 1)
    let none: UnsafeMutablePointer<UnsafePointer<Float>?> = .allocate(capacity: 1)
    none.initialize(to: nil)
    let nowhere: UnsafeMutablePointer<UnsafeMutablePointer<Float>?> = .allocate(capacity: 1)
    nowhere.initialize(to: nil)
    driver.initialize(to: DriverChannels(inputs: none, outputs: nowhere, offset: 0))
    transportCell = TransportCell(Transport(rate: rate))
    transportState = .allocate(capacity: 1)
    transportState.initialize(to: Transport(rate: rate))
    split = .allocate(capacity: 1)
    team = .allocate(capacity: 1)
    team.initialize(
      to: RenderTeam(threads: threads, driver: driver, transport: transportState, zeros: zeros))
    RenderTeam.start(team)
    scaffold = { [driver, team, transportState, split] in
      split.deallocate()
      none.deallocate()
      nowhere.deallocate()
      team.pointee.deallocate()
      team.deinitialize(count: 1)
      team.deallocate()
      driver.deallocate()
      transportState.deallocate()
      channels.deallocate()
      silence.deallocate()
    }
  }

  private let scaffold: () -> Void

  deinit {
    scaffold()
    tape?.deinitialize(count: 1)
    tape?.deallocate()
    commands.deallocate()
    movements.deallocate()
    heard.deallocate()
    watch.deallocate()
  }

  /// Engine time of the next frame. Any thread.
  public var time: Int64 { frameTime.load(ordering: .acquiring) }

  /// Worker, while no audio thread runs.
  func startTaping() {
    guard tape == nil else { return }
    let new = UnsafeMutablePointer<InputTape>.allocate(capacity: 1)
    new.initialize(to: InputTape())
    tape = new
  }

  /// Worker.
  func readTape(_ body: (InputTape.Record) -> Void) {
    guard let records = tape?.pointee.records else { return }
    while let raw = records.peek() {
      body(raw.assumingMemoryBound(to: InputTape.Record.self).pointee)
      records.pop()
    }
  }

  /// Worker.
  var lostInputs: Int { tape?.pointee.lost.load(ordering: .relaxed) ?? 0 }

  /// Changes the sample rate from the next block on. Worker, while no audio thread runs.
  func setRate(_ rate: Double) {
    self.rate = Float(rate)
    watch.setRate(rate)
    transportState.pointee.retune(to: rate, at: now)
    transportCell.store(transportState)
  }

  /// Renders `frames` frames (any number from 1). `inputs` and `outputs` have `DriverChannels.capacity`
  /// entries of `frames` floats each, nil where the driver has no such channel; outputs are overwritten.
  /// `midi` has `MidiInput.ports` entries, `midiOutputs` `MidiOutput.ports`. `load`: the driver's, smoothed; 0 without a
  /// deadline. `waitsForReaders`: see `DriverChannels`. `transport`: the server's or a clock's, which is followed; nil: there
  /// is none. Audio thread.
  @_noLocks public final func render(
    frames: Int, inputs: UnsafeMutablePointer<UnsafePointer<Float>?>,
    outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, midi: UnsafePointer<MidiInput>? = nil,
    midiOutputs: UnsafePointer<MidiOutput>? = nil, load: Float = 0, waitsForReaders: Bool = false,
    transport: TransportInput? = nil
  ) {
    self.load = load
    var next = transport
    tape?.pointee.write(midi, load: load, time: now)
    clear(outputs, frames: frames)
    team.pointee.beginPeriod(plan)
    var done = 0
    while done < frames {
      if let input = next, Int(input.offset) <= done {
        next = nil
        follow(input)
      }
      executeCommands(until: now)
      var count = blockCapacity &- Int(now & 63)
      if count > frames &- done { count = frames &- done }
      if let input = next, Int(input.offset) &- done < count { count = Int(input.offset) &- done }
      let due = handOverEvents(of: count)
      var isSplit = false
      if due > now, due &- now < Int64(count) {
        isSplit = beginSplit(at: due, &count)
        if !isSplit { count = Int(due &- now) }
      }
      driver.pointee = DriverChannels(
        inputs: inputs, outputs: outputs, offset: done, midi: midi, midiOutputs: midiOutputs,
        waitsForReaders: waitsForReaders)
      runPlan(count, isSplit: isSplit, isLast: done &+ count == frames)
      if isSplit { endSplit() }
      watch.measure(driver.pointee, frames: count, time: now)
      now &+= Int64(count)
      done &+= count
      if let maps { follow(maps) }
      blocks &+= 1
    }
    team.pointee.endPeriod(frames: frames, load: load)
    frameTime.store(now, ordering: .releasing)
  }

  /// Silences the outputs that there are: few of the table, of which eight entries are looked at together.
  @inline(__always) @_noLocks private final func clear(
    _ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, frames: Int
  ) {
    var channel = 0
    while channel < DriverChannels.capacity {
      let end = channel &+ 8
      if sostenuto_any(UnsafeRawPointer(outputs + channel).loadUnaligned(as: SIMD16<UInt32>.self)) {
        while channel < end {
          if let output = outputs[channel] { setMemory(output, 0, frames &* 4) }
          channel &+= 1
        }
      }
      channel = end
    }
  }

  /// Executes everything that waits, also what is to happen later. Worker, while no audio thread runs.
  final func executeWaiting() { executeCommands(until: .max) }

  /// Executes the transactions that are due at a time.
  @_noLocks private final func executeCommands(until time: Int64) {
    while let sealed = transaction(behind: 0), sealed.time <= time {
      var index = 0
      while index < sealed.count {
        execute(sealed.commands[index])
        index &+= 1
      }
      // Once, for a crossfade under way would make a second one wait.
      if changesNotes { moveNotes(isNew: changesTable) }
      (changesNotes, changesTable) = (false, false)
      finish(sealed, at: now)
    }
  }

  /// Hands over the events of the next block, each with its frame: notes do not end a block. Returns the time of the
  /// first transaction that is left, or a time far in the future.
  @_noLocks private final func handOverEvents(of frames: Int) -> Int64 {
    // Commands queued behind an event are not executed before it.
    var due = now
    let end = now &+ Int64(frames)
    var count = 0
    var isLast = true
    while isLast, let sealed = transaction(behind: count) {
      if sealed.time > due { due = sealed.time }
      if !sealed.isEvents || due >= end { isLast = false } else { count &+= 1 }
    }
    var earliest = now
    while count > 0, let sealed = transaction(behind: 0) {
      if sealed.time > earliest { earliest = sealed.time }
      // The block may end before what comes next.
      if !isLast, earliest == due { return due }
      sealed.handOver(offset: Int32(truncatingIfNeeded: earliest &- now))
      finish(sealed, at: earliest)
      count &-= 1
    }
    return isLast ? .max : due
  }

  /// The transport at the next frame to be rendered, and that frame. Audio thread.
  public final var present: (transport: Transport, time: Int64) {
    @_noLocks get { (transportState.pointee, now) }
  }

  @_noLocks private final func transaction(behind older: Int) -> SealedTransaction? {
    commands.peek(behind: older)?.assumingMemoryBound(to: SealedTransaction.self).pointee
  }

  @_noLocks private final func finish(_ sealed: SealedTransaction, at time: Int64) {
    sealed.executedAt.pointee = time
    commands.pop()
    executed.store(executed.load(ordering: .relaxed) &+ 1, ordering: .releasing)
  }

  /// Begins the next transaction within the block of `count` frames, if it is local: its plan counts from the block's
  /// start, and the nodes that it reaches and the gains that it moves know its frame. The block ends before the transaction
  /// after it.
  @_noLocks private final func beginSplit(at due: Int64, _ count: inout Int) -> Bool {
    guard let sealed = transaction(behind: 0), sealed.isLocal, sealed.time == due else { return false }
    if let next = transaction(behind: 1)?.time {
      guard next > sealed.time else { return false }
      if next &- now < Int64(count) { count = Int(next &- now) }
    }
    var index = 0
    while index < sealed.count {
      let command = sealed.commands[index]
      switch command {
      case .swap(let next): plan = next
      case .gain(let cable, let value, let frames, let wait, let pace):
        cable.pointee.move(
          to: value, over: Int(frames), pace: Int(pace), after: Int(wait), at: sealed.time, now: now)
      default: command.node?.pointee.isReached = true
      }
      index &+= 1
    }
    countMove()
    split.pointee = BlockSplit(
      frames: Int(sealed.time &- now), commands: sealed.commands, count: sealed.count)
    return true
  }

  @_noLocks private final func endSplit() {
    guard let sealed = transaction(behind: 0) else { return }
    // Nodes that the plan does not run.
    var index = 0
    while index < sealed.count {
      if let node = sealed.commands[index].node, node.pointee.isReached {
        node.pointee.isReached = false
        split.pointee.execute(on: node)
      }
      index &+= 1
    }
    finish(sealed, at: sealed.time)
  }

  /// Follows the transport of a server or a clock from this frame on.
  @_noLocks private final func follow(_ input: TransportInput) {
    let before = transportState.pointee.pulse.wholeNote
    guard transportState.pointee.follow(input, at: now) else { return }
    transportCell.store(transportState)
    if transportState.pointee.pulse.wholeNote != before { moveNotes(isNew: false) }
    var input = input
    input.offset = 0
    tape?.pointee.write(input, time: now)
  }

  /// Writes down that nobody else leads any more.
  @_noLocks private final func tapeRelease() {
    let transport = transportState.pointee
    let input = TransportInput(isRolling: transport.isRolling, frame: transport.position(at: now))
    tape?.pointee.write(input, time: now)
  }

  @_noLocks final func execute(_ command: Command) {
    if let node = command.node {
      command.execute(on: node)
      return countMove()
    }
    switch command {
    case .transport(let change):
      if case .free = change, transportState.pointee.isLed { tapeRelease() }
      let before = transportState.pointee.pulse.wholeNote
      transportState.pointee.apply(change, at: now)
      transportCell.store(transportState)
      if transportState.pointee.pulse.wholeNote != before { changesNotes = true }
    case .swap(let next):
      plan = next
    case .gain(let cable, let value, let frames, let wait, let pace):
      cable.pointee.move(
        to: value, over: Int(frames), pace: Int(pace), after: Int(wait), at: now, now: now)
      countMove()
    case .close(let cable, let frames):
      cable.pointee.closesAt = frames < 0 ? .max : now &+ Int64(frames)
    case .handOver(let cable, let other):
      guard let held = cable.pointee.held else { break }
      if let other { other.pointee.held?.add(held) } else { held.clear() }
    case .end(let node, let frames):
      node.pointee.endsAt = frames < 0 ? .max : now &+ Int64(frames)
    case .event(let node, let event):
      node.pointee.events.pointee.append(event)
    case .widen(let node, let memory, let widening):
      dispatchWiden(node.pointee.tag, node.pointee.kernel, widening, memory)
      node.pointee.widenParameters(widening)
      countMove()
    case .meters(let node, let meters, let count): node.pointee.use(meters, count: Int(count))
    case .widenRing(let cable, let memory, let from, let to, let isDiscrete):
      cable.pointee.widen(from: Int(from), to: Int(to), isDiscrete: isDiscrete, into: memory)
    case .maps(let next): maps = next
    case .notes(let next):
      notes = next
      (changesNotes, changesTable) = (true, true)
    case .mapped(let values, let element, let value, let switches):
      values.pointee.set(Int(element), .value, to: value)
      values.pointee.setSwitches(Int(element), to: switches)
    case .follow(let values, let followers):
      values.pointee.followers = followers
      moveFollowers(of: values, over: maps?.pointee.fade ?? 0)
    case .begin, .ramp, .makeRoom, .kernel, .use, .adopt: break
    }
  }

  /// Moves values that are lengths of notes to what these are at the present tempo.
  @_noLocks private final func moveNotes(isNew: Bool) {
    guard let notes else { return }
    let wholeNote = transportState.pointee.pulse.wholeNote
    var index = 0
    while index < notes.pointee.count {
      if let command = notes.pointee.move(index, wholeNote: wholeNote, isNew: isNew) { execute(command) }
      index &+= 1
    }
  }

  @_noLocks final func countMove() { moves = moves == .max ? 1 : moves &+ 1 }

  @_noLocks private final func runPlan(_ frames: Int, isSplit: Bool, isLast: Bool) {
    guard let plan else { return }
    team.pointee.render(
      RenderJob(
        plan: plan, frames: frames, time: now, rate: rate, load: load,
        isMetering: isMetering.load(ordering: .relaxed), moves: moves, block: blocks,
        split: isSplit ? split : nil),
      isLast: isLast)
  }
}
