import CAlsa

/// One direction of an ALSA device, with samples as floats on our side. Made by a worker, then used by
/// the audio thread alone.
final class AlsaDevice {
  let name: String
  let rate: Double
  let period: Int
  let channels: Int
  /// How many it could be opened with, of its own and not by mixing them.
  let mostChannels: Int
  /// Frames between us and the sound.
  let buffer: Int

  private let device: OpaquePointer
  private let format: Format
  /// One period as the device has it.
  private let bytes: UnsafeMutableRawPointer

  private enum Format: CaseIterable {
    case float, s32, s16

    var code: snd_pcm_format_t {
      switch self {
      case .float: SND_PCM_FORMAT_FLOAT_LE
      case .s32: SND_PCM_FORMAT_S32_LE
      case .s16: SND_PCM_FORMAT_S16_LE
      }
    }

    var size: Int { self == .s16 ? 2 : 4 }
  }

  /// Asks for `channels`, or what is nearest, and for `rate` and `period`; what came of it can be read
  /// afterwards.
  init(_ name: String, isCapture: Bool, rate: Double, period: Int, channels wanted: Int) throws(DriverError) {
    // Without ALSA's own mixing of channels, which would make channels that are not there and turn down
    // those that are; but one channel alone should carry both sides.
    var device = try Self.open(name, isCapture, Int32(SND_PCM_NO_AUTO_CHANNELS))
    var most = Self.channels(of: device)
    if most < 2 {
      snd_pcm_close(device)
      device = try Self.open(name, isCapture, 0)
      most = 2
    }
    // A card is opened whole, so that it need not be opened again when the patch grows; what leads to
    // a sound server takes the number of channels for the kind of speakers.
    let count = snd_pcm_type(device) == SND_PCM_TYPE_HW ? most : min(most, max(2, wanted))
    do {
      let (format, channels, actualRate, actualPeriod, buffer) = try Self.configure(
        device, name, rate: rate, period: period, channels: count)
      self.format = format
      self.channels = channels
      // Not every limit that ALSA states holds together with the others.
      mostChannels = channels < count ? channels : most
      self.rate = actualRate
      self.period = actualPeriod
      self.buffer = buffer
    } catch {
      snd_pcm_close(device)
      throw error
    }
    self.name = name
    self.device = device
    bytes = .allocate(byteCount: self.period * channels * format.size, alignment: 64)
  }

  deinit {
    snd_pcm_close(device)
    bytes.deallocate()
  }

  private static func open(
    _ name: String, _ isCapture: Bool, _ mode: Int32
  ) throws(DriverError) -> OpaquePointer {
    sostenuto_alsa_be_quiet()
    var opened: OpaquePointer?
    let stream = isCapture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
    // A device that another program holds is refused at once instead of waited for.
    let error = snd_pcm_open(&opened, name, stream, Int32(SND_PCM_NONBLOCK) | mode)
    guard error >= 0, let device = opened else { throw failure(name, "cannot be opened", error) }
    return device
  }

  /// The most channels that it can be opened with, as far as the engine has so many.
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

  private static func failure(_ name: String, _ what: String, _ error: Int32) -> DriverError {
    DriverError("ALSA device \(name) \(what): \(String(cString: snd_strerror(error)))")
  }

  private static func configure(
    _ device: OpaquePointer, _ name: String, rate: Double, period: Int, channels: Int
  ) throws(DriverError) -> (Format, channels: Int, rate: Double, period: Int, buffer: Int) {
    var allocated: OpaquePointer?
    snd_pcm_hw_params_malloc(&allocated)
    guard let wishes = allocated else { throw DriverError("no memory for the ALSA device \(name)") }
    defer { snd_pcm_hw_params_free(wishes) }
    snd_pcm_hw_params_any(device, wishes)
    snd_pcm_hw_params_set_access(device, wishes, SND_PCM_ACCESS_RW_INTERLEAVED)
    guard
      let format = Format.allCases.first(where: {
        snd_pcm_hw_params_set_format(device, wishes, $0.code) >= 0
      })
    else { throw DriverError("ALSA device \(name) has no sample format that we know") }
    var channels = UInt32(channels)
    snd_pcm_hw_params_set_channels_near(device, wishes, &channels)
    var actualRate = UInt32(rate)
    snd_pcm_hw_params_set_rate_near(device, wishes, &actualRate, nil)
    var actualPeriod = snd_pcm_uframes_t(period)
    snd_pcm_hw_params_set_period_size_near(device, wishes, &actualPeriod, nil)
    var buffer = actualPeriod * 3
    snd_pcm_hw_params_set_buffer_size_near(device, wishes, &buffer)
    let error = snd_pcm_hw_params(device, wishes)
    guard error >= 0 else { throw failure(name, "does not take our settings", error) }
    // The plug-in that leads nowhere may leave the period to us.
    snd_pcm_hw_params_get_period_size(wishes, &actualPeriod, nil)
    let frames = (1...8192).contains(actualPeriod) ? Int(actualPeriod) : period
    return (format, Int(channels), Double(actualRate), frames, Int(min(buffer, 65536)))
  }

  /// What a transfer came to.
  enum Transfer {
    case done
    /// The device ran dry or over and goes on.
    case xrun
    /// Not ready within the time; nothing was transferred.
    case timeout
    /// It will not go on: unplugged, most likely. ALSA's number for it.
    case failed(Int32)
  }

  /// Waits for room and writes `frames` (at most a period) of `samples`, interleaved. Audio thread.
  func write(_ samples: UnsafePointer<Float>, frames: Int) -> Transfer {
    encode(samples, count: frames * channels)
    var done = 0
    var hadXrun = false
    while done < frames {
      let ready = snd_pcm_wait(device, 1000)
      if ready == 0 { return .timeout }
      let start = bytes + done * channels * format.size
      let count = ready < 0 ? Int(ready) : snd_pcm_writei(device, start, snd_pcm_uframes_t(frames - done))
      if count == -Int(EAGAIN) { continue }
      if count < 0 {
        let error = snd_pcm_recover(device, Int32(count), 1)
        guard error >= 0, !hadXrun else { return .failed(error < 0 ? error : Int32(count)) }
        hadXrun = true
        continue
      }
      done += count
    }
    return hadXrun ? .xrun : .done
  }

  /// Reads a period of interleaved samples if the device has one; zeros until then. Does not wait.
  /// Audio thread.
  func read(_ samples: UnsafeMutablePointer<Float>, frames: Int) -> Transfer {
    samples.update(repeating: 0, count: frames * channels)
    var ready = Int(snd_pcm_avail_update(device))
    if ready >= 0, snd_pcm_state(device) == SND_PCM_STATE_PREPARED {
      snd_pcm_start(device)
      ready = Int(snd_pcm_avail_update(device))
    }
    if ready < 0 {
      let error = snd_pcm_recover(device, Int32(ready), 1)
      return error < 0 ? .failed(error) : .xrun
    }
    // What piled up is dropped: it would be heard late for ever.
    if ready > 3 * frames { snd_pcm_forward(device, snd_pcm_uframes_t(ready - 2 * frames)) }
    guard ready >= frames else { return .done }
    let count = snd_pcm_readi(device, bytes, snd_pcm_uframes_t(frames))
    if count > 0 { decode(samples, count: Int(count) * channels) }
    return .done
  }

  private func encode(_ samples: UnsafePointer<Float>, count: Int) {
    switch format {
    case .float: bytes.copyMemory(from: samples, byteCount: count * 4)
    case .s32:
      let target = bytes.assumingMemoryBound(to: Int32.self)
      // The largest Float below 2^31; what is not a number becomes silence.
      for index in 0..<count {
        let value = samples[index] * 2_147_483_648
        target[index] = value == value ? Int32(min(max(value, -2_147_483_648), 2_147_483_520)) : 0
      }
    case .s16:
      let target = bytes.assumingMemoryBound(to: Int16.self)
      for index in 0..<count {
        let value = (samples[index] * 32768).rounded()
        target[index] = value == value ? Int16(min(max(value, -32768), 32767)) : 0
      }
    }
  }

  private func decode(_ samples: UnsafeMutablePointer<Float>, count: Int) {
    switch format {
    case .float: samples.update(from: bytes.assumingMemoryBound(to: Float.self), count: count)
    case .s32:
      let source = bytes.assumingMemoryBound(to: Int32.self)
      for index in 0..<count { samples[index] = Float(source[index]) / 2_147_483_648 }
    case .s16:
      let source = bytes.assumingMemoryBound(to: Int16.self)
      for index in 0..<count { samples[index] = Float(source[index]) / 32768 }
    }
  }

  /// The number of the first sound card, or nil where there is none. Worker.
  static var firstCard: Int? {
    sostenuto_alsa_be_quiet()
    var card: Int32 = -1
    return snd_card_next(&card) >= 0 && card >= 0 ? Int(card) : nil
  }

  static func describe(_ error: Int32) -> String { String(cString: snd_strerror(error)) }
}
