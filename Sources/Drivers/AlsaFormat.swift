import CAlsa

/// A sample format of a device.
enum AlsaFormat: CaseIterable {
  /// `s24` has four bytes a sample, `packed24` three.
  case float, s32, s24, packed24, s16

  var code: snd_pcm_format_t {
    switch self {
    case .float: SND_PCM_FORMAT_FLOAT_LE
    case .s32: SND_PCM_FORMAT_S32_LE
    case .s24: SND_PCM_FORMAT_S24_LE
    case .packed24: SND_PCM_FORMAT_S24_3LE
    case .s16: SND_PCM_FORMAT_S16_LE
    }
  }

  var size: Int {
    switch self {
    case .float, .s32, .s24: 4
    case .packed24: 3
    case .s16: 2
    }
  }
}

extension AlsaFormat {
  /// Writes samples as this format has them. Audio thread.
  func encode(_ samples: UnsafePointer<Float>, to bytes: UnsafeMutableRawPointer, count: Int) {
    switch self {
    case .float: bytes.copyMemory(from: samples, byteCount: count * 4)
    case .s32:
      let target = bytes.assumingMemoryBound(to: Int32.self)
      // The largest Float below 2^31; NaN becomes silence.
      for index in 0..<count {
        let value = samples[index] * 2_147_483_648
        target[index] = value == value ? Int32(min(max(value, -2_147_483_648), 2_147_483_520)) : 0
      }
    case .s24:
      let target = bytes.assumingMemoryBound(to: Int32.self)
      for index in 0..<count { target[index] = Self.whole24(samples[index]) }
    case .packed24:
      let target = bytes.assumingMemoryBound(to: UInt8.self)
      for index in 0..<count {
        let value = UInt32(bitPattern: Self.whole24(samples[index]))
        target[3 * index] = UInt8(truncatingIfNeeded: value)
        target[3 * index + 1] = UInt8(truncatingIfNeeded: value >> 8)
        target[3 * index + 2] = UInt8(truncatingIfNeeded: value >> 16)
      }
    case .s16:
      let target = bytes.assumingMemoryBound(to: Int16.self)
      for index in 0..<count {
        let value = (samples[index] * 32768).rounded()
        target[index] = value == value ? Int16(min(max(value, -32768), 32767)) : 0
      }
    }
  }

  /// 24 bits of a sample; NaN becomes silence.
  private static func whole24(_ sample: Float) -> Int32 {
    let value = (sample * 8_388_608).rounded()
    return value == value ? Int32(min(max(value, -8_388_608), 8_388_607)) : 0
  }

  /// Reads samples. Audio thread.
  func decode(_ samples: UnsafeMutablePointer<Float>, from bytes: UnsafeMutableRawPointer, count: Int) {
    switch self {
    case .float: samples.update(from: bytes.assumingMemoryBound(to: Float.self), count: count)
    case .s32:
      let source = bytes.assumingMemoryBound(to: Int32.self)
      for index in 0..<count { samples[index] = Float(source[index]) / 2_147_483_648 }
    case .s24:
      // The highest byte may be anything.
      let source = bytes.assumingMemoryBound(to: Int32.self)
      for index in 0..<count { samples[index] = Float(source[index] << 8) / 2_147_483_648 }
    case .packed24:
      let source = bytes.assumingMemoryBound(to: UInt8.self)
      for index in 0..<count {
        let low = UInt32(source[3 * index]) << 8 | UInt32(source[3 * index + 1]) << 16
        let value = Int32(bitPattern: low | UInt32(source[3 * index + 2]) << 24)
        samples[index] = Float(value) / 2_147_483_648
      }
    case .s16:
      let source = bytes.assumingMemoryBound(to: Int16.self)
      for index in 0..<count { samples[index] = Float(source[index]) / 32768 }
    }
  }
}
