import Glibc
import Instruments
import Patch

/// Reason why a file could not be opened or saved. `FileError+Words.swift` has the words for it.
public indirect enum FileError: Error, Hashable, Sendable {
  // MARK: Files

  /// A failed system call on that path, with its `errno`.
  case system(path: String, code: Int32)
  /// The file could not be read.
  case unreadable(LoadError)
  /// A folder, a device or the like.
  case notPlain(path: String)
  /// A symbolic link to a name that is not UTF-8, or round to itself.
  case linkNotFollowed(path: String)
  /// A save could not be completed; the old content is kept as `copy`.
  case incomplete(FileError, copy: String)

  // MARK: Patches

  /// Something that the user must decide about.
  case obstacle(SaveObstacle)
  /// The patch has no file; `isSaving`: a name would help.
  case noFile(isSaving: Bool)
  /// States of nodes could not be put into the patch.
  case statesRefused(EditError)
  /// Going back to the file met a step that cannot be undone.
  case revertRefused(EditError)
  /// Going back did not lead to the file's content.
  case revertedElsewhere

  // MARK: Journals

  /// The session has no journal.
  case noJournal
  /// A step of the history has no line for the journal.
  case stepNotRecorded
  /// The journal belongs to another user.
  case otherOwner(path: String)
  /// The journal's path names another file each time.
  case unstable(path: String)
  /// Another file has the journal's path.
  case replaced(path: String)

  // MARK: Bundles

  /// The folder of the patch does not exist.
  case noFolder(path: String)
  /// The bundle's folder exists, and is not empty.
  case folderExists(path: String)
  /// The bundle's patch would not find that file.
  case notFoundInBundle(path: String)

  // MARK: Renders

  /// The file is no journal of a take.
  case noTakeJournal(path: String)
  /// A line of the journal keeps more frames than there were by then.
  case keepsTooMuch(path: String, line: Int)

  /// An output to be written by itself, which does not exist; its name on the command line.
  case noTap(String, TapFault)

  /// Reason why there is no such output.
  public enum TapFault: Hashable, Sendable {
    /// No node has that name; `near` is one that may be meant.
    case noNode(String, near: String?)
    /// The node has no audio output.
    case noAudio(String, kind: String)
    /// A sub-patch, whose outputs are these nodes.
    case subPatch(String, ports: [String])
    /// Too few channels are left for it: outputs and taps share them.
    case noRoom(channels: Int)
    /// The node has these audio outputs, and another one was named.
    case noPort(String, known: [String])
  }

  /// The obstacle that the user can be asked about.
  public var obstacle: SaveObstacle? { if case .obstacle(let obstacle) = self { obstacle } else { nil } }

  /// `errno` of the failed call, or one that describes the error; 0: none does.
  var code: Int32 {
    switch self {
    case .system(_, let code): code
    case .unreadable(let error): error.code
    case .incomplete(let error, _): error.code
    case .otherOwner: EACCES
    case .replaced: ESTALE
    case .notPlain, .linkNotFollowed, .obstacle, .noFile, .statesRefused, .revertRefused, .revertedElsewhere,
      .noJournal, .stepNotRecorded, .unstable, .noFolder, .folderExists, .notFoundInBundle, .noTap,
      .noTakeJournal, .keepsTooMuch:
      0
    }
  }
}
