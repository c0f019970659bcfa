import Glibc
import Patch
import Realtime

/// The words of errors of files.
extension FileError: CustomStringConvertible {
  /// One line, with the file's name.
  public var description: String {
    switch self {
    case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
    case .unreadable(let error): error.description
    case .notPlain(let path): "\(path): not a plain file"
    case .linkNotFollowed(let path):
      "\(path): a link to a name that is not UTF-8, or round to itself: save under another name"
    case .incomplete(let error, let copy): "\(error); what it was is kept as \(copy)"
    case .obstacle(let obstacle): obstacle.words
    case .noFile(let isSaving): "the patch has no file yet" + (isSaving ? ": give a name" : "")
    case .statesRefused(let error): error.description
    case .revertRefused(let error): "\(error): open the file again instead"
    case .revertedElsewhere: "the file is not what the edits began with: open it again instead"
    case .noJournal: "there is no journal"
    case .stepNotRecorded: "a step back cannot be written down"
    case .otherOwner(let path): "\(path): belongs to another user"
    case .unstable(let path): "\(path): changes all the time"
    case .replaced(let path): "\(path): is another file now"
    case .noFolder(let path): "\(path): no such folder"
    case .folderExists(let path): "\(path): is there already"
    case .notFoundInBundle(let path):
      "\(path): would not be found in the bundle (a link on the way there?)"
    case .noTakeJournal(let path): "\(path): not the journal of a take"
    case .keepsTooMuch(let path, let line): "\(path):\(line): keeps more frames than there were by then"
    case .noTap(let name, let fault): "--tap \(name): \(fault.words)"
    }
  }
}

extension FileError.TapFault {
  fileprivate var words: String {
    switch self {
    case .noNode(let name, let near):
      "no node `\(name)`" + (near.map { "; \(Nearest.question($0))" } ?? "")
    case .noAudio(let name, let kind): "`\(name)` (\(kind)) has no audio output"
    case .subPatch(let name, let ports):
      "`\(name)` is a sub-patch; what leaves it is \(ports.map { "`\($0)`" }.joined(separator: ", "))"
    case .noRoom(let channels):
      "no room for \(channels) more channels: outputs and taps have \(DriverChannels.capacity) together; "
        + "`record` in a script has no such limit"
    case .noPort(let name, let known): "`\(name)` has the audio outputs \(known.joined(separator: ", "))"
    }
  }
}
