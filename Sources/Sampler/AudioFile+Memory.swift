import CSndfile
import Glibc

/// Audio that lies in memory, as the compressed samples of SoundFont 3 banks do.
extension AudioFile {
  private struct Place {
    var bytes: UnsafeRawBufferPointer
    var position = 0
  }

  /// Decodes what libsndfile knows; the first channel counts. Worker.
  static func read(
    _ bytes: UnsafeRawBufferPointer, path: String, in pool: SamplePool
  ) throws(LoadError) -> AudioFile {
    var place = Place(bytes: bytes)
    var access = SF_VIRTUAL_IO(
      get_filelen: { sf_count_t($0!.assumingMemoryBound(to: Place.self).pointee.bytes.count) },
      seek: { offset, whence, data in
        let place = data!.assumingMemoryBound(to: Place.self)
        let base =
          switch whence {
          case SEEK_CUR: place.pointee.position
          case SEEK_END: place.pointee.bytes.count
          default: 0
          }
        place.pointee.position = min(max(base + Int(offset), 0), place.pointee.bytes.count)
        return sf_count_t(place.pointee.position)
      },
      read: { buffer, count, data in
        let place = data!.assumingMemoryBound(to: Place.self)
        let got = min(Int(count), place.pointee.bytes.count - place.pointee.position)
        guard got > 0 else { return 0 }
        memcpy(buffer!, place.pointee.bytes.baseAddress! + place.pointee.position, got)
        place.pointee.position += got
        return sf_count_t(got)
      },
      write: { _, _, _ in 0 },
      tell: { sf_count_t($0!.assumingMemoryBound(to: Place.self).pointee.position) })
    var samples: [Float] = []
    var info = SF_INFO()
    let fault: LoadError? = withUnsafeMutablePointer(to: &place) { place in
      guard let file = sf_open_virtual(&access, Int32(SFM_READ), &info, place) else {
        return LoadError(path: path, "it cannot be decoded: \(String(cString: sf_strerror(nil)))")
      }
      defer { sf_close(file) }
      guard info.channels > 0, info.samplerate > 0 else {
        return LoadError(path: path, "it has no channels or no sample rate")
      }
      do throws(LoadError) {
        let channels = Int(info.channels)
        let all = try decode(file, channels, Int(info.frames), path, nil, as: Float.self, sf_readf_float)
        samples = (0..<all.count / channels).map { isSound(all[$0 * channels]) ? all[$0 * channels] : 0 }
        return nil
      } catch {
        return error
      }
    }
    if let fault { throw fault }
    let facts = Facts(
      path: path, format: "SoundFont 3", rate: Double(info.samplerate),
      originalRate: Double(info.samplerate), originalFrames: samples.count)
    return try AudioFile(facts, channels: 1, floats: samples, in: pool)
  }
}
