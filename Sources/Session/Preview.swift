import Drivers
import Engine
import Patch
import PatchLanguage
import Realtime

/// A player of files that somebody chooses among, in a session of its own beside the open one, which it leaves as it is: an
/// instrument plays a note, a sound file or a MIDI file its beginning. Main thread.
@MainActor public final class Preview {
  private let session: Session
  /// Seconds of monotonic time at which the note ends; nil: none sounds.
  private var noteEnd: Int64?
  /// The note waits for the instrument.
  private var awaitsNote = false
  private var key: UInt8 = 60
  private(set) var path: String?

  /// Nanoseconds of a note.
  private static let noteLength: Int64 = 1_000_000_000
  private static let sound = "sound"

  /// `options`: those of the open session, whose driver it shares as another client.
  public init(beside options: SessionOptions) {
    var own = SessionOptions()
    own.driver = options.driver
    own.driver.jack.clientName = String(options.driver.jack.clientName.prefix(20)) + " preview"
    own.isOffline = options.isOffline
    own.quality = options.quality
    own.keepsJournal = false
    own.mayRecord = false
    session = Session(options: own)
    session.openText("sostenuto 1\n\nnode out output\n")
    if !options.isOffline { session.start() }
  }

  /// The patch that it plays.
  package var patch: Patch { session.patch }
  package var isPlaying: Bool { noteEnd != nil || session.report.nodes.contains { $0.voices > 0 } }

  /// Plays a file in place of the one before. Throws for one that cannot be read.
  public func play(_ path: String) throws {
    silence()
    let kind = FolderListing.ending(of: path)
    let file = Quoting.word(path)
    self.path = path
    if StarterPatch.instruments.contains(kind) {
      try perform("node \(Self.sound) sampler instrument=\(file)", "connect \(Self.sound) -> out gain=-6dB")
      awaitsNote = true
    } else if StarterPatch.sounds.contains(kind) {
      try perform(
        "node \(Self.sound) player file=\(file) autoplay=on", "connect \(Self.sound) -> out gain=-6dB")
    } else if StarterPatch.isSong(path) {
      // The patch that the song would have of its own.
      let text = StarterPatch.text(playing: path) ?? ""
      let band = text.split(separator: "\n").first { $0.hasPrefix("node band ") } ?? ""
      try perform(
        "node \(Self.sound)" + band.dropFirst("node band".count), "node midi midi",
        "connect midi -> \(Self.sound)", "connect \(Self.sound) -> out gain=-6dB")
      try session.playSong(path)
    }
  }

  private func perform(_ lines: String...) throws {
    for line in lines { try session.perform(line) }
  }

  /// Ends what sounds, by a fade.
  public func silence() {
    session.endSong()
    path = nil
    (noteEnd, awaitsNote) = (nil, false)
    for name in [Self.sound, "midi"] where session.patch[named: name] != nil {
      _ = try? session.perform("remove \(name)")
    }
  }

  /// Facts about the file that plays, or the reason why it does not; empty: nothing plays, or it loads.
  public var words: String {
    guard let node = session.patch[named: Self.sound] else { return "" }
    let report = session.report.nodes.first { $0.id == node.id }
    if let fault = report?.fault { return fault }
    if case .placeholder(let reason) = report?.state { return reason }
    if report?.loading != nil { return "loading" }
    guard let facts = session.instruments[node.id] else { return path.map { _ in "plays" } ?? "" }
    let keys = facts.keys.map { "  \(Value.noteName($0.lowerBound))…\(Value.noteName($0.upperBound))" } ?? ""
    let programs = facts.programs > 1 ? "  \(facts.programs) programs" : ""
    return "\(facts.regions) region\(facts.regions == 1 ? "" : "s")\(programs)\(keys)"
  }

  /// Call this about 25 times a second while it is there.
  public func tick() {
    session.tick()
    let now = monotonicTime()
    guard let node = session.patch[named: Self.sound] else { return }
    if awaitsNote, session.isLoaded {
      awaitsNote = false
      let keys = session.instruments[node.id]?.keys
      key = keys.map { $0.contains(60) ? 60 : UInt8((Int($0.lowerBound) + Int($0.upperBound)) / 2) } ?? 60
      session.play(Event(.noteOn, key: key, value: 100), on: node.id)
      noteEnd = now + Self.noteLength
    }
    if let end = noteEnd, now >= end {
      noteEnd = nil
      session.play(Event(.noteOff, key: key, value: 64), on: node.id)
    }
  }

  /// Ends it. No other method may be called afterwards.
  public func close() {
    silence()
    session.close()
  }
}
