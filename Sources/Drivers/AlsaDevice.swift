import CAlsa
import Glibc
import Realtime

/// One direction of an ALSA device, with float samples on our side. A worker opens it, the audio thread alone
/// uses it, and a worker closes it after that thread has ended.
final class AlsaDevice {
  let name: String
  let rate: Double
  let period: Int
  let channels: Int
  /// Largest number of channels of its own, without ALSA's channel mixing.
  let mostChannels: Int
  /// Latency of the device's buffer, in frames.
  let buffer: Int

  fileprivate let device: OpaquePointer
  private var isOpen = true
  private let isCapture: Bool
  fileprivate let format: AlsaFormat
  /// Buffer in the device's sample format.
  fileprivate let bytes: UnsafeMutableRawPointer
  /// Milliseconds after which a device that makes no progress counts as stuck.
  fileprivate let patience: Int

  /// Opens the device with settings as near as possible to `channels`, `rate` and `period`; the actual ones
  /// can be read afterwards. A capture device gets room for at least two transfers of `period` frames,
  /// whatever its own period.
  init(_ name: String, isCapture: Bool, rate: Double, period: Int, channels wanted: Int) throws(DriverError) {
    // Without ALSA's own channel mixing, which invents missing channels and attenuates real ones. A mono
    // device uses it all the same, so that it carries both sides.
    var device = try Self.open(name, isCapture, Int32(SND_PCM_NO_AUTO_CHANNELS))
    var most = Self.channels(of: device)
    if most < 2 {
      snd_pcm_close(device)
      device = try Self.open(name, isCapture, 0)
      most = 2
    }
    // A card is opened with all its channels, so that it need not be reopened when the patch grows. A device
    // that leads to a sound server takes the channel count for the speaker layout.
    let count = snd_pcm_type(device) == SND_PCM_TYPE_HW ? most : min(most, max(2, wanted))
    do throws(DriverError) {
      let (format, channels, actualRate, actualPeriod, buffer) = try Self.configure(
        device, name, rate: rate, period: period, channels: count, room: isCapture ? 4 * period : 0)
      guard !isCapture || buffer >= 2 * period else {
        throw DriverError.smallBuffer(device: name, frames: buffer)
      }
      self.format = format
      self.channels = channels
      // ALSA's limits do not all hold in combination.
      mostChannels = channels < count ? channels : most
      self.rate = actualRate
      self.period = actualPeriod
      self.buffer = buffer
    } catch {
      snd_pcm_close(device)
      throw error
    }
    self.name = name
    self.isCapture = isCapture
    self.device = device
    patience = max(2000, 4000 * self.period / max(Int(self.rate), 1))
    // A transfer may use the other direction's period, which may be longer.
    bytes = .allocate(byteCount: max(period, self.period) * channels * format.size, alignment: 64)
  }

  deinit {
    close()
    bytes.deallocate()
  }

  /// Releases the device for other programs. Call this when no audio thread uses it. Worker.
  func close() {
    if isOpen { snd_pcm_close(device) }
    isOpen = false
  }

  private static func open(
    _ name: String, _ isCapture: Bool, _ mode: Int32
  ) throws(DriverError) -> OpaquePointer {
    sostenuto_alsa_be_quiet()
    var opened: OpaquePointer?
    let stream = isCapture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
    // A device held by another program is refused at once instead of waited for.
    let error = snd_pcm_open(&opened, name, stream, Int32(SND_PCM_NONBLOCK) | mode)
    guard error >= 0, let device = opened else { throw .device(name, .open, code: error) }
    return device
  }

  /// Largest number of channels that the device opens with, up to the engine's limit.
  private static func channels(of device: OpaquePointer) -> Int {
    var allocated: OpaquePointer?
    snd_pcm_hw_params_malloc(&allocated)
    guard let limits = allocated else { return 0 }
    defer { snd_pcm_hw_params_free(limits) }
    var most: UInt32 = 0
    guard snd_pcm_hw_params_any(device, limits) >= 0,
      snd_pcm_hw_params_get_channels_max(limits, &most) >= 0
    else { return 0 }
    return min(Int(most), channelCapacity)
  }

  private static func configure(
    _ device: OpaquePointer, _ name: String, rate: Double, period: Int, channels: Int, room: Int
  ) throws(DriverError) -> (AlsaFormat, channels: Int, rate: Double, period: Int, buffer: Int) {
    var allocated: OpaquePointer?
    snd_pcm_hw_params_malloc(&allocated)
    guard let parameters = allocated else { throw DriverError.noMemory(device: name) }
    defer { snd_pcm_hw_params_free(parameters) }
    snd_pcm_hw_params_any(device, parameters)
    snd_pcm_hw_params_set_access(device, parameters, SND_PCM_ACCESS_RW_INTERLEAVED)
    guard
      let format = AlsaFormat.allCases.first(where: {
        snd_pcm_hw_params_set_format(device, parameters, $0.code) >= 0
      })
    else { throw DriverError.noFormat(device: name) }
    var channels = UInt32(channels)
    snd_pcm_hw_params_set_channels_near(device, parameters, &channels)
    var actualRate = UInt32(rate)
    snd_pcm_hw_params_set_rate_near(device, parameters, &actualRate, nil)
    var actualPeriod = snd_pcm_uframes_t(period)
    snd_pcm_hw_params_set_period_size_near(device, parameters, &actualPeriod, nil)
    var buffer = max(actualPeriod * 3, snd_pcm_uframes_t(room))
    snd_pcm_hw_params_set_buffer_size_near(device, parameters, &buffer)
    let error = snd_pcm_hw_params(device, parameters)
    guard error >= 0 else { throw .device(name, .settings, code: error) }
    // The `null` plug-in may leave the period open.
    snd_pcm_hw_params_get_period_size(parameters, &actualPeriod, nil)
    let frames = (1...8192).contains(actualPeriod) ? Int(actualPeriod) : period
    return (format, Int(channels), Double(actualRate), frames, Int(min(buffer, 65536)))
  }

  /// Number of the first sound card, or nil where there is none. Worker.
  static var firstCard: Int? {
    sostenuto_alsa_be_quiet()
    var card: Int32 = -1
    return snd_card_next(&card) >= 0 && card >= 0 ? Int(card) : nil
  }

  /// Names of the devices that there are: those that ALSA's configuration lists, and the sound cards. Worker.
  static var names: [String] {
    sostenuto_alsa_be_quiet()
    var found: [String] = []
    var card: Int32 = -1
    while snd_card_next(&card) >= 0, card >= 0 { found.append("hw:\(card)") }
    var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard snd_device_name_hint(-1, "pcm", &hints) >= 0, let list = hints else { return found }
    defer { snd_device_name_free_hint(list) }
    var index = 0
    while let hint = list[index] {
      index += 1
      guard let name = snd_device_name_get_hint(hint, "NAME") else { continue }
      defer { free(name) }
      // Each card has a dozen of names with a colon.
      let text = String(cString: name)
      if !text.includes(":") { found.append(text) }
    }
    return found
  }

  static func describe(_ error: Int32) -> String { String(cString: snd_strerror(error)) }
}

/// The outcome of a transfer.
enum Transfer: Equatable {
  case done
  /// The device underran, overran or was suspended, and has recovered.
  case xrun
  /// The device makes no progress, or the driver is stopping.
  case timeout
  /// The device cannot continue: unplugged, most likely. ALSA's error number.
  case failed(Int32)
}

extension AlsaDevice {
  /// Milliseconds of one wait, and so the delay of a stop.
  private static let slice = 100
  /// Maximum number of xruns within one transfer.
  private static let mostXruns = 10

  /// Waits for room and writes `frames` (at most a period) of interleaved `samples`; gives up when `isOver`
  /// returns true. Audio thread.
  func write(_ samples: UnsafePointer<Float>, frames: Int, isOver: () -> Bool) -> Transfer {
    format.encode(samples, to: bytes, count: frames * channels)
    return transfer(frames, isOver: isOver) {
      snd_pcm_writei(device, bytes + $0 * channels * format.size, snd_pcm_uframes_t(frames - $0))
    }
  }

  /// Waits for `frames` (at most a period) and reads them as interleaved `samples`; gives up when `isOver` returns
  /// true. A card's thread.
  func capture(_ samples: UnsafeMutablePointer<Float>, frames: Int, isOver: () -> Bool) -> Transfer {
    // Devices such as `null` report frames but deliver none.
    bytes.initializeMemory(as: UInt8.self, repeating: 0, count: frames * channels * format.size)
    let result = transfer(frames, isOver: isOver) {
      snd_pcm_readi(device, bytes + $0 * channels * format.size, snd_pcm_uframes_t(frames - $0))
    }
    format.decode(samples, from: bytes, count: frames * channels)
    return result
  }

  /// Waits until the device has room, or frames, for a period; gives up when `isOver` returns true. A card's thread.
  func awaitTurn(isOver: () -> Bool) -> Transfer {
    var waited = 0
    while waited < patience, !isOver() {
      beginCapture()
      let ready = Int(snd_pcm_wait(device, Int32(Self.slice)))
      if ready > 0 { return .done }
      if Self.isTransient(ready) {
        waited += Self.slice
        continue
      }
      let error = recover(from: Int32(ready), isOver: isOver)
      return error < 0 ? .failed(error) : .xrun
    }
    return .timeout
  }

  /// A capture device does not start by itself.
  private func beginCapture() {
    if isCapture, snd_pcm_state(device) == SND_PCM_STATE_PREPARED { snd_pcm_start(device) }
  }

  /// Repeats a call, which gets the number of frames that are done, until all are. Audio thread.
  private func transfer(_ frames: Int, isOver: () -> Bool, _ call: (Int) -> Int) -> Transfer {
    var (done, waited, idle, xruns) = (0, 0, 0, 0)
    while done < frames {
      guard waited < patience, !isOver() else { return .timeout }
      beginCapture()
      let ready = snd_pcm_wait(device, Int32(Self.slice))
      if ready == 0 {
        waited += Self.slice
        continue
      }
      let count = ready < 0 ? Int(ready) : call(done)
      if count > 0 {
        done += count
        (waited, idle) = (0, 0)
      } else if Self.isTransient(count) {
        idle += 1
        // The device reports room but accepts nothing, possibly for long.
        if idle > 3 { waited += pause() }
      } else {
        xruns += 1
        let error = recover(from: Int32(count), isOver: isOver)
        guard error >= 0, xruns < Self.mostXruns else { return .failed(error < 0 ? error : Int32(count)) }
      }
    }
    return xruns > 0 ? .xrun : .done
  }

  /// Reads `frames` of interleaved samples (at most the size that it was opened for) if the device has them.
  /// Otherwise zeros, and zeros in place of missing frames. Does not wait. Audio thread.
  func read(_ samples: UnsafeMutablePointer<Float>, frames: Int) -> Transfer {
    samples.update(repeating: 0, count: frames * channels)
    var ready = Int(snd_pcm_avail_update(device))
    if ready >= 0, snd_pcm_state(device) == SND_PCM_STATE_PREPARED {
      snd_pcm_start(device)
      ready = Int(snd_pcm_avail_update(device))
    }
    if ready < 0 { return outcome(of: ready) }
    // Drops a backlog, which would otherwise be a lasting delay. The device delivers whole periods.
    let step = max(frames, period)
    if ready > frames + 2 * step { snd_pcm_forward(device, snd_pcm_uframes_t(ready - frames - step)) }
    guard ready >= frames else { return .done }
    // Devices such as `null` report frames but deliver none.
    bytes.initializeMemory(as: UInt8.self, repeating: 0, count: frames * channels * format.size)
    var done = 0
    var result = Transfer.done
    while done < frames {
      let start = bytes + done * channels * format.size
      let count = snd_pcm_readi(device, start, snd_pcm_uframes_t(frames - done))
      guard count > 0 else {
        if count < 0 { result = outcome(of: count) }
        break
      }
      done += count
    }
    format.decode(samples, from: bytes, count: done * channels)
    return result
  }

  /// A result that is no fault: nothing for now.
  private static func isTransient(_ result: Int) -> Bool {
    result == 0 || result == -Int(EAGAIN) || result == -Int(EINTR)
  }

  private func outcome(of result: Int) -> Transfer {
    if Self.isTransient(result) { return .done }
    // A suspended device is tried again in the next period.
    let error = recover(from: Int32(result), isOver: { true })
    return error < 0 ? .failed(error) : .xrun
  }

  /// Makes the device ready again after `error`; returns ALSA's error number if that fails.
  private func recover(from error: Int32, isOver: () -> Bool) -> Int32 {
    switch error {
    case -EPIPE: return snd_pcm_prepare(device)
    case -ESTRPIPE:
      var waited = 0
      while true {
        let resumed = snd_pcm_resume(device)
        if resumed == -EAGAIN {
          if isOver() { return 0 }
          if waited < patience {
            waited += pause()
            continue
          }
        }
        // Not every device can resume.
        return resumed < 0 ? snd_pcm_prepare(device) : 0
      }
    default: return error
    }
  }

  /// Sleeps a millisecond, and returns 1.
  private func pause() -> Int {
    sleep(until: nanoseconds() + 1_000_000)
    return 1
  }
}
