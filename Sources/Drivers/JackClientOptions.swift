import CJack

/// Settings of a JACK client.
public struct JackClientOptions: Sendable {
  /// Name of the client. The server appends `-01` and so on to one that is taken.
  public var clientName = "sostenuto"
  /// Largest length of a client's name, in bytes: what a server takes, which is two less than JACK says, without
  /// the number behind a name that is taken.
  public static var longestName: Int { Int(jack_client_name_size()) - 5 }
  /// Largest length of a server's name, in bytes.
  public static let longestServer = 100
  /// Name of the server; nil: the one that JACK_DEFAULT_SERVER names, or `default`.
  public var server: String?
  /// Connects new output ports to the sound card.
  public var connectsOutputs = true
  /// Connects new input ports to the sound card.
  public var connectsInputs = false
  /// Connects MIDI ports to the senders that they name.
  public var connectsMidi = true
  /// Shared by successive drivers.
  public var wishes = ConnectionWishes()

  /// The default settings.
  public init() {}
}
