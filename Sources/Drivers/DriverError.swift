/// Reason why a driver could not be opened or started, or a sound file not written. `DriverError+Words.swift` has
/// the words for it.
public enum DriverError: Error, Hashable, Sendable {
  /// The system refused a thread; the driver's name and `errno`.
  case noThread(driver: String, code: Int32)

  // MARK: JACK

  /// `jackd` could not be started; `errno`.
  case serverNotStarted(code: Int32)
  /// No answer in time.
  case silentServer
  /// No server can have a name as long as the one that was asked for.
  case longServerName
  /// The server has no rate or no period.
  case noRate(server: String?)
  /// The client could not be opened.
  case refused(JackRefusal, server: String?)
  /// The client was opened, and could not be started.
  case clientNotStarted

  // MARK: ALSA

  /// A call on that device failed, with ALSA's code.
  case device(String, DeviceStep, code: Int32)
  /// The device's buffer has this many frames, too few for two periods.
  case smallBuffer(device: String, frames: Int)
  /// No memory for the device's parameters.
  case noMemory(device: String)
  /// None of our sample formats.
  case noFormat(device: String)
  /// The sequencer could not be opened, with ALSA's code.
  case noSequencer(code: Int32)
  /// No pipe to the sequencer's thread; `errno`.
  case noSequencerPipe(code: Int32)

  // MARK: Sound files

  /// libsndfile could not create or write the file; its words.
  case soundFile(path: String, String)
  /// The file could not be closed.
  case incomplete(path: String)
  /// The complete file could not be renamed; `errno`.
  case notRenamed(path: String, code: Int32)

  /// Step of opening a device.
  public enum DeviceStep: Hashable, Sendable {
    /// The device itself.
    case open
    /// Rate, period and channels.
    case settings
  }

  /// Reason why a JACK server refuses a client.
  public enum JackRefusal: Hashable, Sendable {
    /// Another version of the protocol.
    case version
    /// No access to the server's shared memory.
    case sharedMemory
    /// Another client has the name.
    case nameTaken
    /// Communication failed.
    case communication
    /// The server does not run.
    case notRunning
    /// Another reason, in the words of JACK if it gave some.
    case other(String?)
  }
}
