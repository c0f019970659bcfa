import Dispatch
import Glibc
import Loop
import Screen
import Synchronization

/// Draws screens, one at a time: on a thread of its own, since a large graph takes tens of milliseconds, for which no key
/// has to wait; a small one at once, since changing threads would cost as much as the drawing. Main thread.
@MainActor final class DrawingThread {
  /// A screen is being drawn.
  private(set) var isBusy = false

  private struct Drawing {
    var canvas: Canvas
    var nanoseconds: Int64
  }

  private let show: (Canvas, Int64) -> Void
  /// Nanoseconds that the last drawing took.
  private var lastTime: Int64 = 0
  /// Longer drawings have a thread of their own.
  private static let quick: Int64 = 2_000_000
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
    self.show = show
    let done = done
    loop.watch(done.pipe.read) { [weak self] in
      var byte: UInt8 = 0
      _ = read(done.pipe.read, &byte, 1)
      guard let self else { return }
      isBusy = false
      if let drawing = done.drawing.withLock({ $0.take() }) { finish(drawing) }
    }
  }

  private func finish(_ drawing: Drawing) {
    lastTime = drawing.nanoseconds
    show(drawing.canvas, drawing.nanoseconds)
  }

  /// Draws what `picture` returns. Only while it is not busy.
  func draw(_ picture: @escaping @Sendable () -> Canvas, isSmall: Bool) {
    @Sendable func drawing() -> Drawing {
      let start = EventLoop.now()
      let canvas = picture()
      return Drawing(canvas: canvas, nanoseconds: EventLoop.now() - start)
    }
    if isSmall, lastTime < Self.quick { return finish(drawing()) }
    isBusy = true
    queue.async { [done] in
      let drawing = drawing()
      done.drawing.withLock { $0 = drawing }
      _ = write(done.pipe.write, [0], 1)
    }
  }
}
