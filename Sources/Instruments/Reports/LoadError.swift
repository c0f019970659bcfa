/// Reason why an instrument or an audio file cannot be played, with its place. `LoadError+Words.swift` has the words
/// for it.
public struct LoadError: Error, Hashable, Sendable {
  /// Path of the file; for a sample, its name.
  public var path: String
  /// Line number, from 1, if the error has one.
  public var line: Int?
  /// The reason.
  public var reason: Reason
  /// Other findings before the error.
  public var findings: [Finding] = []

  /// An error in the file at `path`.
  public init(path: String, line: Int? = nil, _ reason: Reason) {
    self.path = path
    self.line = line
    self.reason = reason
  }

  /// `errno` of the failed system call, or 0.
  package var code: Int32 { if case .system(let code) = reason { code } else { 0 } }

  /// Reason why a file is of no use.
  public enum Reason: Hashable, Sendable {
    // MARK: Files

    /// A system call failed with this `errno`.
    case system(Int32)
    /// A folder stands there.
    case folder
    /// A device, a socket or the like.
    case notPlain
    /// Bytes of the file, and of the largest one that is read.
    case tooLarge(Int, most: Int)
    /// Nobody waits for the file any more.
    case cancelled
    /// No memory for samples of this many bytes.
    case noMemory(bytes: Int)
    /// No address space for a stream of this many bytes.
    case noRoom(bytes: Int)

    // MARK: Sound files

    /// libsndfile's words.
    case noSoundFile(String)
    /// libsndfile's words, of a sample within an instrument.
    case notDecoded(String)
    /// Larger than what is searched for its end.
    case tooLargeToSearch
    /// A sample rate of 0 Hz.
    case noRate
    /// No channels.
    case noChannels
    /// No frames.
    case noAudio
    /// No frame that can be read.
    case noReadableAudio
    /// More frames, at the rate of playback, than a file may have.
    case tooLong
    /// The driver's rate, at which nothing can be played.
    case invalidRate(Double)
    /// Factor from the file's rate to the driver's.
    case invalidRatio(Double)
    /// libsamplerate's words.
    case notConverted(String)

    // MARK: Instruments

    /// A generated wave of an unknown name.
    case noWave
    /// A sample of this many frames, too many for a turn of a wave.
    case noTurn(frames: Int)
    /// An SFZ instrument without a region; the first finding.
    case noRegions(Finding?)
    /// An SFZ instrument without a playable region; the first finding.
    case noPlayableRegions(Finding?)

    // MARK: SoundFont banks

    /// The file is not a bank, for that reason.
    case noBank(BankFault)
    /// The file ends at that byte.
    case endsEarly(byte: Int)
    /// Too many chunks, at that byte.
    case tooManyChunks(byte: Int)
    /// The tables' chunk at that byte is too large.
    case largeTables(byte: Int)
    /// The table of that name is missing up to the file's end.
    case noTable(String, size: Int)
    /// The size of the table at that byte is no multiple of its records.
    case tableSize(String, byte: Int)
    /// A record at that byte refers to nothing.
    case damagedTable(String, byte: Int)
    /// A bank without a playable preset; the first finding.
    case noPlayablePresets(Finding?)
    /// A sample in the ROM of a sound card.
    case inRom
    /// A sample beyond the bank's data.
    case outsideSamples
    /// Samples that overlap too often.
    case overlap

    // MARK: Scales and key maps

    /// Nothing stands where that was expected.
    case missing(String)
    /// A number outside of its range, and its meaning.
    case notInRange(String, String, ClosedRange<Int>)
    /// A line that is no interval.
    case noInterval(String)
    /// The last key lies below the first.
    case keyOrder(first: Int, last: Int)
    /// A line that is no frequency.
    case noFrequency(String)
    /// A line that is no degree.
    case noDegree(String)
    /// The reference key has no degree.
    case silentReference(key: Int)
  }

  /// Reason why a file is not a SoundFont bank.
  public enum BankFault: Hashable, Sendable {
    /// Fewer bytes than a header has.
    case tooShort
    /// Another header.
    case header
  }
}
