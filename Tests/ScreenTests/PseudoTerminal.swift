import Foundation
import Glibc
import Synchronization

/// A terminal played by the test: it keeps all output, and answers queries.
final class PseudoTerminal: Sendable {
  /// Path of the terminal for another process.
  let path: String
  private let master: Int32
  private let slave: Int32
  private let stop: (read: Int32, write: Int32)
  private let isRead = Atomic(false)
  private let written = Mutex<[UInt8]>([])

  /// `answers`: pairs of a query and the answer sent back.
  init?(answers: [(String, String)]) {
    // Swift does not see glibc's own functions for this, because of feature macros.
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var locked: Int32 = 0
    var number: Int32 = 0
    guard master >= 0, ioctl(master, 0x4004_5431, &locked) == 0,  // TIOCSPTLCK
      ioctl(master, 0x8004_5430, &number) == 0  // TIOCGPTN
    else { return nil }
    path = "/dev/pts/\(number)"
    slave = open(path, O_RDWR | O_NOCTTY)
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    guard slave >= 0, ioctl(master, UInt(TIOCSWINSZ), &size) == 0 else { return nil }
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    stop = (ends[0], ends[1])
    Thread.detachNewThread { [self] in pump(answers) }
  }

  /// Ends the reading, and returns all output so far.
  func finish() -> String {
    close(stop.write)
    // The reader empties the terminal before it sees the end.
    while !isRead.load(ordering: .acquiring) { sched_yield() }
    return written.withLock { String(decoding: $0, as: UTF8.self) }
  }

  /// Terminal modes: input, output and local flags.
  var modes: [tcflag_t] {
    var settings = termios()
    tcgetattr(slave, &settings)
    return [settings.c_iflag, settings.c_oflag, settings.c_lflag]
  }

  private func pump(_ answers: [(String, String)]) {
    var answered = 0
    while true {
      var ready = [
        pollfd(fd: master, events: Int16(POLLIN), revents: 0),
        pollfd(fd: stop.read, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&ready, 2, -1) > 0 else { continue }
      if ready[0].revents & Int16(POLLIN) != 0 {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(master, &buffer, buffer.count)
        if count > 0 {
          let text = written.withLock { all in
            all += buffer[..<count]
            return String(decoding: all, as: UTF8.self)
          }
          while answered < answers.count, text.contains(answers[answered].0) {
            let answer = Array(answers[answered].1.utf8)
            _ = write(master, answer, answer.count)
            answered += 1
          }
          continue
        }
      }
      if ready[1].revents != 0 {
        close(stop.read)
        isRead.store(true, ordering: .releasing)
        return
      }
    }
  }

  deinit {
    close(master)
    close(slave)
  }
}
