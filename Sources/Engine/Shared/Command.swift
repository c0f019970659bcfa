import Realtime

/// A command to the audio thread.
enum Command {
  case swap(UnsafeMutablePointer<Plan>)
  case transport(TransportChange)
  /// A new node begins.
  case begin(UnsafeMutablePointer<NodeSlot>)
  case ramp(
    UnsafeMutablePointer<NodeSlot>, parameter: Int32, element: Int32, value: Float, frames: Int32,
    law: Ramp.Law = .even)
  /// A parameter gets memory for more elements.
  case makeRoom(UnsafeMutablePointer<NodeSlot>, parameter: Int32, ParameterRoom)
  case kernel(UnsafeMutablePointer<NodeSlot>, parameter: Int32, element: Int32, value: Float, frames: Int32)
  /// `wait`: frames until it begins, rounded up to a multiple of 64 of engine time. `pace`: of all fades at the input.
  case gain(UnsafeMutablePointer<CableSlot>, value: Float, frames: Int32, wait: Int32, pace: Int32)
  /// An event cable passes note-offs only, and ends its held notes after this many frames; negative: it opens
  /// again.
  case close(UnsafeMutablePointer<CableSlot>, after: Int32)
  /// Copies the held notes and pedals of an event cable into the ledger of another one; nil: clears its own.
  case handOver(UnsafeMutablePointer<CableSlot>, to: UnsafeMutablePointer<CableSlot>?)
  /// All notes of a node end after this many frames; negative: cancelled.
  case end(UnsafeMutablePointer<NodeSlot>, after: Int32)
  case event(UnsafeMutablePointer<NodeSlot>, Event)
  case use(UnsafeMutablePointer<NodeSlot>, UnsafeMutablePointer<ResourceHeader>?)
  /// A node goes on with the state of a kernel that no plan has any more.
  case adopt(UnsafeMutablePointer<NodeSlot>, kernel: UnsafeMutableRawPointer, bytes: Int32)
  case widen(UnsafeMutablePointer<NodeSlot>, memory: UnsafeMutableRawPointer, Widening)
  /// A node that has widened gets meters for all of its channels.
  case meters(UnsafeMutablePointer<NodeSlot>, UnsafeMutablePointer<ChannelMeter>, count: Int32)
  /// The source of a delayed cable has widened; `memory`: zeroed, for all of its channels.
  case widenRing(
    UnsafeMutablePointer<CableSlot>, memory: UnsafeMutableRawPointer, from: Int32, to: Int32, isDiscrete: Bool
  )
  /// The maps from now on; nil: none.
  case maps(UnsafeMutablePointer<MapTable>?)
  /// The lengths of notes from now on; nil: none.
  case notes(UnsafeMutablePointer<NoteTable>?)
  /// An edit has changed a value that maps move, or its switches.
  case mapped(UnsafeMutablePointer<MappedValues>, element: Int32, value: Float, switches: UInt8)
  /// The gains of cables that are heard as the switches of these values say, from now on.
  case follow(UnsafeMutablePointer<MappedValues>, UnsafeMutableBufferPointer<MappedValues.Follower>)

  /// The node that it concerns, and nothing besides; nil: it concerns other things.
  var node: UnsafeMutablePointer<NodeSlot>? {
    @_noLocks get {
      switch self {
      case .begin(let node), .ramp(let node, _, _, _, _, _), .makeRoom(let node, _, _),
        .kernel(let node, _, _, _, _), .use(let node, _), .adopt(let node, _, _):
        node
      default: nil
      }
    }
  }

  /// Worker.
  var isEvent: Bool { if case .event = self { true } else { false } }

  /// It can be executed within a block; see `SealedTransaction.isLocal`. Worker.
  var isLocal: Bool {
    switch self {
    case .swap, .gain: true
    default: node?.pointee.runsInParts == true
    }
  }
}

/// A transaction: its commands are executed together.
struct SealedTransaction {
  /// Engine time of execution; the next block if it has passed.
  var time: Int64
  var commands: UnsafeMutablePointer<Command>
  var count: Int
  /// Engine time of its execution. The audio thread writes it before the transaction counts as executed.
  var executedAt: UnsafeMutablePointer<Int64>
  /// It may be executed within a block; otherwise the block ends at its time.
  var isLocal: Bool
  /// It brings nodes events, and nothing besides.
  var isEvents: Bool

  /// Hands over its events for a frame of the next block. Audio thread.
  @_noLocks func handOver(offset: Int32) {
    var index = 0
    while index < count {
      if case .event(let node, var event) = commands[index] {
        event.offset = offset
        node.pointee.events.pointee.append(event)
      }
      index &+= 1
    }
  }
}

/// A trace record from the audio thread.
struct TraceRecord {
  var time: Int64
  var node: Int32
  var kind: Event.Kind
  var key: UInt8
  var value: Float
  /// No event: the blast shield muted the node for emitting `value`.
  var isBlast = false

  /// Record of a muted node.
  @_noLocks init(time: Int64, node: Int32, blast: Float) {
    self.time = time
    self.node = node
    kind = .stop
    key = 0
    value = blast
    isBlast = true
  }

  @_noLocks init(time: Int64, node: Int32, event: Event) {
    self.time = time
    self.node = node
    kind = event.kind
    key = event.key
    value = event.value
  }
}
