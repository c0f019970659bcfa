import Realtime
import Synchronization

/// Lines of the cards, for the audio thread.
struct CardTable: BitwiseCopyable, @unchecked Sendable {
  static var capacity: Int { @_noLocks get { 16 } }
  /// No cards.
  static var none: CardTable { CardTable(slots: nil, used: nil, renders: nil) }

  /// A line each, as bits of its pointer, or 0.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>?
  /// Cards of the render under way. Audio thread.
  private let used: UnsafeMutablePointer<UInt>?
  /// Number of renders begun and ended.
  private let renders: UnsafeMutablePointer<Atomic<Int>>?

  static func make() -> CardTable {
    let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: capacity)
    for slot in 0..<capacity { (slots + slot).initialize(to: Atomic(0)) }
    let used = UnsafeMutablePointer<UInt>.allocate(capacity: capacity)
    used.initialize(repeating: 0, count: capacity)
    let renders = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    renders.initialize(to: Atomic(0))
    return CardTable(slots: slots, used: used, renders: renders)
  }

  func deallocate() {
    slots?.deallocate()
    used?.deallocate()
    renders?.deallocate()
  }

  // MARK: Worker

  var firstFree: Int? {
    (0..<Self.capacity).first { slots?[$0].load(ordering: .relaxed) == 0 }
  }

  /// The caller keeps a line that was taken away until `isAtRest`.
  func set(_ line: CardLine?, at slot: Int) {
    let bits = line.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
    slots?[slot].store(bits, ordering: .sequentiallyConsistent)
  }

  /// No render is under way: lines taken away before are used no more.
  var isAtRest: Bool { renders.map { $0.pointee.load(ordering: .sequentiallyConsistent) & 1 == 0 } ?? true }

  // MARK: Audio thread

  /// Gives the renderer the lines' channels.
  @_noLocks func lend(
    _ inputs: UnsafeMutablePointer<UnsafePointer<Float>?>,
    _ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, frames: Int
  ) {
    guard let slots, let used, let renders else { return }
    renders.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    var slot = 0
    while slot < Self.capacity {
      let bits = slots[slot].load(ordering: .sequentiallyConsistent)
      used[slot] = bits
      if let place = UnsafeRawPointer(bitPattern: bits) {
        Unmanaged<CardLine>.fromOpaque(place)._withUnsafeGuaranteedRef {
          $0.lend(inputs, outputs, frames: frames)
        }
      }
      slot &+= 1
    }
  }

  /// Takes the channels back. `time`: when the period began.
  @_noLocks func take(
    _ inputs: UnsafeMutablePointer<UnsafePointer<Float>?>,
    _ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, frames: Int, time: Int64
  ) {
    guard let used, let renders else { return }
    var slot = 0
    while slot < Self.capacity {
      if let place = UnsafeRawPointer(bitPattern: used[slot]) {
        Unmanaged<CardLine>.fromOpaque(place)._withUnsafeGuaranteedRef {
          $0.take(inputs, outputs, frames: frames, time: time)
        }
      }
      slot &+= 1
    }
    renders.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }
}
