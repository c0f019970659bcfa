import Drivers
import Engine
import Patch
import Realtime
import Recording

// Sound that comes in through `input` nodes while a take runs: files beside it, with which a replay has the same sound.

extension Session {
  /// Begins to record what comes in, for the journal of `take`.
  func beginInputs(of take: Take, at frame: Int64?) {
    guard tape != nil, options.keepsInputs else { return }
    for node in inputNodes {
      guard let point = engine.capturePoint(of: node.id, port: nil) else { continue }
      let feed = Recorder.feed(channels: point.channels, rate: engine.rate)
      let request = Take.Request(
        path: Self.beside(take.status.path, "in.wav"), port: node.name, rate: engine.rate,
        isInput: true)
      do throws(RecordingError) {
        let input = try recorder.begin(request, feed)
        let capture = engine.beginCapture(point, feed: feed.resource, at: frame)
        runningTakes.append(RunningTake(take: input, capture: capture, point: point, owner: take))
      } catch {
        notice("no replay of the take will have what comes in at `\(node.name)`: \(error.description)")
      }
    }
  }

  private var inputNodes: [Node] {
    patch.nodes.values.filter { catalogue[$0.kind]?.endpoint == .input }
  }

  /// Ends what was recorded for a take, and returns it for its journal.
  func endInputs(of take: Take) -> [TakeJournal.Input] {
    for index in runningTakes.indices
    where runningTakes[index].owner === take && !runningTakes[index].isEnding {
      end(&runningTakes[index], at: nil)
    }
    return runningTakes.compactMap { running in
      guard running.owner === take, let start = running.take.start else { return nil }
      let status = running.take.status
      return TakeJournal.Input(node: status.port, start: start, file: PatchFile.split(status.path).name)
    }
  }

  /// Reasons for which a replay may lack what came in.
  func doubt(_ inputs: [TakeJournal.Input], from start: Int64) -> String? {
    let nodes = inputNodes
    guard !nodes.isEmpty else { return nil }
    if nodes.contains(where: { node in !inputs.contains { $0.node == node.name } }) {
      return "the driver's inputs are not in it"
    }
    return start > 0 ? "what came in before the take is not in it" : nil
  }
}

/// The files of what came in, as the driver of a replay.
final class ReplayedInputs {
  private struct Source {
    /// Name when the take began, and the node that had it then.
    let name: String
    var node: NodeID?
    let start: Int64
    let file: TakeReader
  }

  private var sources: [Source] = []
  /// Names of files that are not there.
  let missing: [String]

  init(_ inputs: [TakeJournal.Input], in folder: String) {
    var missing: [String] = []
    for input in inputs {
      if let file = TakeReader(path: folder + "/" + input.file) {
        sources.append(Source(name: input.node, start: input.start, file: file))
      } else {
        missing.append(input.file)
      }
    }
    self.missing = missing
  }

  /// Fills the channels of an endpoint, at present of this name, for the frames from `frame` on.
  func fill(
    _ endpoint: Endpoint, named name: String?, _ frame: Int64, _ count: Int,
    _ target: (Int) -> UnsafeMutablePointer<Float>
  ) {
    for index in sources.indices {
      let source = sources[index]
      guard frame + Int64(count) > source.start, frame < source.start + source.file.frames else { continue }
      if source.node == nil, source.name == name { sources[index].node = endpoint.node }
      guard sources[index].node == endpoint.node else { continue }
      source.file.read(frame - source.start, count) { $0 < endpoint.channels ? target($0) : nil }
    }
  }
}
