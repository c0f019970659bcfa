import Dispatch
import Glibc
import Loop
import Screen
import Synchronization

/// Draws screens on a thread of its own, one at a time: a large graph takes tens of milliseconds, for which no key has
/// to wait. Main thread.
@MainActor final class DrawingThread {
  /// A screen is being drawn.
  private(set) var isBusy = false

  private struct Drawing {
    var canvas: Canvas
    var nanoseconds: Int64
  }

  private let queue = DispatchQueue(label: "sostenuto.drawing")
  private let done = Shared()

  /// Knowledge of both threads.
  private final class Shared: Sendable {
    let drawing = Mutex<Drawing?>(nil)
    /// Readable when a drawing is done.
    let pipe: (read: Int32, write: Int32)

    init() {
      var ends: [Int32] = [-1, -1]
      _ = Glibc.pipe(&ends)
      pipe = (ends[0], ends[1])
    }

    deinit {
      close(pipe.read)
      close(pipe.write)
    }
  }

  /// `show`: takes each screen, with the nanoseconds that its drawing took.
  init(_ loop: EventLoop, show: @escaping (Canvas, Int64) -> Void) {
    let done = done
    loop.watch(done.pipe.read) { [weak self] in
      var byte: UInt8 = 0
      _ = read(done.pipe.read, &byte, 1)
      self?.isBusy = false
      let drawing = done.drawing.withLock { $0.take() }
      if let drawing { show(drawing.canvas, drawing.nanoseconds) }
    }
  }

  /// Draws what `picture` returns. Only while it is not busy.
  func draw(_ picture: @escaping @Sendable () -> Canvas) {
    isBusy = true
    let done = done
    queue.async {
      let start = EventLoop.now()
      let canvas = picture()
      done.drawing.withLock { $0 = Drawing(canvas: canvas, nanoseconds: EventLoop.now() - start) }
      _ = write(done.pipe.write, [0], 1)
    }
  }
}
