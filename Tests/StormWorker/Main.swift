import Engine
import Foundation
import PatchLanguage
import Session

/// A session that a test can kill. It reads one command per line, and answers each when it is done.
///
/// ```
/// user 65534        becomes another user
/// open a.patch      opened
/// do remove dist    done, unsafe (performed, and the journal fails), or refused
/// save              saving, then saved or unsaved
/// text              the document, as one line of JSON
/// tick              done or unsafe
/// limit 2000        limits the size of files in bytes, like a full disk; 0 lifts the limit
/// notices           as one line of JSON
/// ```
@main @MainActor enum StormWorker {
  static func main() throws {
    signal(SIGXFSZ, SIG_IGN)
    let session = Session()
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      let rest = words.count > 1 ? words[1] : ""
      switch words.first {
      case "user":
        let user = uid_t(rest) ?? 0
        say(setreuid(user, user) == 0 ? "done" : "refused")
      case "open":
        do {
          try session.open(rest)
          say(session.isLocked ? "locked" : "opened")
        } catch {
          say("failed \(error)")
        }
      case "do":
        do {
          try session.perform(rest)
          // On a busy machine the journal may take longer than an edit waits for it.
          session.finishJournal()
          say(session.journalFault == nil ? "done" : "unsafe")
        } catch {
          say("refused \(error)")
        }
      case "save":
        say("saving")
        do {
          try session.save()
          say("saved")
        } catch {
          say("unsaved \(error)")
        }
      case "text": try tell(PatchWriter.write(session.patch, catalogue: KindRegistry.builtIn.catalogue))
      case "tick":
        session.tick()
        say(session.journalFault == nil ? "done" : "unsafe")
      case "limit":
        let bytes = rlim_t(rest) ?? 0
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        say("done")
      case "notices": try tell(session.takeNotices().words.joined(separator: "\n"))
      default: say("refused")
      }
    }
  }

  private static func say(_ text: String) {
    var bytes = Array(text.utf8)
    bytes.append(UInt8(ascii: "\n"))
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBufferPointer { write(1, $0.baseAddress! + done, bytes.count - done) }
      if count <= 0 { exit(1) }
      done += count
    }
  }

  /// Prints a text of several lines as one line.
  private static func tell(_ text: String) throws {
    say(String(decoding: try JSONEncoder().encode(text), as: UTF8.self))
  }
}
