import Glibc

/// The words of errors of loading.
extension LoadError: CustomStringConvertible {
  /// The reason with file and line.
  public var description: String {
    line.map { "\(path):\($0): \(message)" } ?? "\(path): \(message)"
  }

  /// The reason without its place.
  public var message: String {
    switch reason {
    case .system(let code): String(cString: strerror(code))
    case .folder: "a folder, not a file"
    case .notPlain: "not a plain file"
    case .tooLarge(let size, let most):
      "too large: it has \((size + 1_048_575) >> 20) MB, and \(most >> 20) MB are the most that is read"
    case .cancelled: "no longer wanted"
    case .noMemory(let bytes): "there is no memory for its \(bytes >> 20) MB of samples"
    case .noRoom(let bytes): "there is no room for its \(bytes >> 20) MB"
    case .noSoundFile(let words): "not a readable audio file: \(words)"
    case .notDecoded(let words): "it cannot be decoded: \(words)"
    case .tooLargeToSearch: "too large for a sound of this format: 1024 MB are the most"
    case .noRate: "its sample rate is 0 Hz"
    case .noChannels: "it has no channels"
    case .noAudio: "it holds no audio"
    case .noReadableAudio: "it holds no audio that can be read"
    case .tooLong: "too long: 12 hours at 48 kHz, or as many frames, are the most; cut it into parts"
    case .invalidRate(let rate): "cannot be played at \(rate) Hz"
    case .invalidRatio(let ratio): "its rate cannot be converted by a factor of \(ratio)"
    case .notConverted(let words): words
    case .noWave: "of the generated waves there are \(GeneratedWave.names)"
    case .noTurn(let frames): "\(frames) frames are no turn of a wave (oscillator=on)"
    case .noRegions(let first):
      "no <region> in it: \(first?.message ?? "it is empty or not an SFZ instrument")"
    case .noPlayableRegions(let first):
      first.map { "nothing in it can be played: \($0.message)" } ?? "nothing in it can be played"
    case .noBank(.tooShort): "not a SoundFont bank: it is too short"
    case .noBank(.header): "not a SoundFont bank: it does not begin with RIFF and sfbk"
    case .endsEarly(let byte): "the file ends at byte \(byte)"
    case .tooManyChunks(let byte): "it has too many chunks (byte \(byte))"
    case .largeTables(let byte): "the bank's tables are too large (byte \(byte))"
    case .noTable(let name, let size): "the bank has no \(name) table up to its end (byte \(size))"
    case .tableSize(let name, let byte): "the bank's \(name) table has a wrong size (byte \(byte))"
    case .damagedTable(let name, let byte): "the bank's \(name) table is damaged (byte \(byte))"
    case .noPlayablePresets(let first): first?.message ?? "nothing in the bank can be played"
    case .inRom: "it lies in a ROM"
    case .outsideSamples: "it lies outside the bank's samples"
    case .overlap: "the samples lie in one another too often"
    case .missing(let wanted): "the file ends before \(wanted)"
    case .notInRange(let text, let wanted, let range):
      "`\(text.prefix(60))` is not \(wanted), \(range.lowerBound) to \(range.upperBound)"
    case .noInterval(let word): "`\(word)` is neither cents, with a point, nor a ratio such as 3/2"
    case .keyOrder(let first, let last): "the last key \(last) lies below the first, \(first)"
    case .noFrequency(let text): "`\(text)` is not a frequency in hertz"
    case .noDegree(let word): "`\(word)` is neither a degree nor x"
    case .silentReference(let key): "key \(key), of which the frequency is given, has no degree"
    }
  }
}
