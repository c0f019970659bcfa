import CAlsa
import Engine
import Realtime
import Synchronization

/// A sound card beside the driver, in one direction. Its own thread waits for the card, converts between its clock and
/// the engine's, and opens it again when it was gone.
final class Card: @unchecked Sendable {
  struct Key: Hashable {
    var device: String
    var isInput: Bool
  }

  let key: Key
  let line: CardLine
  /// The engine's, Hz.
  let rate: Double
  private let period: Int
  private let stopTime = Atomic<Int64>(.max)
  private let isHushed = Atomic<Bool>(false)
  private let shared: Mutex<CardState>
  /// Channels of the device; 0 until it is open.
  private let openChannels = Atomic<Int>(0)
  private var thread: AudioThread?

  // The card's thread.
  /// Seconds that the sound waits for late wakeups. It becomes longer when that was not enough.
  var margin = 0.002
  /// When sound was last missing; nil: it is not.
  var dryTime: Int64?
  /// Attempts in a row that have failed to open it.
  private var refusals = 0
  /// Number of frames taken from the line.
  var position = 0

  /// `rate` and `period`: the engine's.
  init(_ key: Key, channels: Int, rate: Double, period: Int) {
    self.key = key
    self.rate = rate
    self.period = min(max(period, 64), 1024)
    line = CardLine(isInput: key.isInput, channels: channels, rate: rate)
    shared = Mutex(CardState(device: key.device))
  }

  // MARK: Worker

  var state: CardState { shared.withLock { $0 } }

  /// Channels of the device; nil until it is open.
  var channels: Int? {
    let count = openChannels.load(ordering: .relaxed)
    return count > 0 ? count : nil
  }

  func start() {
    do {
      thread = try startThread()
    } catch {
      publish { $0.stage = .absent(error.message) }
    }
  }

  // Formed in a nonisolated function, as `AudioThread` requires.
  private nonisolated func startThread() throws(DriverError) -> AudioThread {
    try AudioThread(name: "card", priority: 55) { [self] in run() }
  }

  /// Fades out and closes the device. Waits for that.
  func stop() {
    stopTime.store(nanoseconds(), ordering: .relaxed)
    thread?.join()
  }

  /// Fades it out, or in again.
  func hush(_ isHushed: Bool) { self.isHushed.store(isHushed, ordering: .relaxed) }

  // MARK: The card's thread

  /// It is to fade out, and to end.
  var isStopping: Bool { stopTime.load(ordering: .relaxed) < .max }
  /// It is to fade out, or to stay silent.
  var isClosed: Bool { isStopping || isHushed.load(ordering: .relaxed) }
  /// It is to end, whatever the card does.
  var isOver: Bool { isStopping && nanoseconds() > stopTime.load(ordering: .relaxed) + 500_000_000 }

  func publish(_ change: (inout CardState) -> Void) { shared.withLock { change(&$0) } }

  /// Opens the device, again and again, and uses it until it is gone.
  func run() {
    while !isStopping {
      let pause = use()
      let due = nanoseconds() + pause
      while !isStopping, nanoseconds() < due { sleep(until: nanoseconds() + 20_000_000) }
    }
  }

  /// Nanoseconds until the next attempt.
  private func use() -> Int64 {
    do throws(DriverError) {
      let device = try AlsaDevice(
        key.device, isCapture: key.isInput, rate: rate, period: period, channels: line.channels)
      defer { device.close() }
      guard let stream = CardStream(self, device) else { throw DriverError.noMemory(device: key.device) }
      refusals = 0
      openChannels.store(device.channels, ordering: .relaxed)
      publish { $0.stage = .starting }
      let error = key.isInput ? stream.record() : stream.play()
      if !isStopping { publish { $0.stage = .absent(Self.words(error, key.device)) } }
    } catch {
      // Perhaps we have it still, and close it at this moment.
      refusals += 1
      if error == .device(key.device, .open, code: -EBUSY), refusals < 10 { return 100_000_000 }
      publish { $0.stage = .absent(error.message) }
    }
    return 1_000_000_000
  }

  private static func words(_ error: Int32, _ device: String) -> String {
    error == -ENODEV
      ? "ALSA device \(device) was unplugged" : "ALSA device \(device) stopped: \(AlsaDevice.describe(error))"
  }
}
