import Patch

// Latency compensation of parallel paths. Worker.

extension Reconciler {
  /// At each audio input, delays the cables that arrive earlier than the latest.
  ///
  /// A path's latency is the sum of its nodes' latencies, from its source. Cables into parameters and
  /// feedback cables are neither compensated nor counted. Sound on a cycle is late by the 64 frames and by
  /// the latency of the cycle's nodes.
  func alignPaths(_ arrangement: inout Arrangement, arriving: [EngineNode]) {
    let count = graph.nodes.count
    let intentCount = graph.intents.count
    let (sources, destinations, ports) = (graph.intentSources, graph.intentDestinations, graph.intentPorts)
    var counts = [Bool](repeating: false, count: intentCount)
    for intent in 0..<intentCount where sources[intent] >= 0 && ports[intent] >= 0 { counts[intent] = true }
    for intent in graph.feedback { counts[Int(intent.index)] = false }
    // Intents grouped by source.
    var first = [Int](repeating: 0, count: count + 1)
    for intent in 0..<intentCount where counts[intent] { first[Int(sources[intent]) + 1] += 1 }
    for node in 0..<count { first[node + 1] += first[node] }
    var next = first
    var bySource = [Int](repeating: 0, count: first[count])
    for intent in 0..<intentCount where counts[intent] {
      let source = Int(sources[intent])
      bySource[next[source]] = intent
      next[source] += 1
    }

    var isNew = [Bool](repeating: false, count: count)
    if !isFirst { for node in arriving { isNew[Int(node.index)] = true } }
    /// Latency at the first audio input of each node, at its other inputs, and at its outputs.
    var firstInput = [Int32](repeating: 0, count: count)
    var otherInputs: [Input: Int32] = [:]
    var latest = [Int32](repeating: 0, count: count)
    var output = [Int32](repeating: 0, count: count)
    var readiness = [Int32](repeating: 0, count: count)
    for row in graph.order.rows {
      let node = Int(row.pointee.index)
      let own = graph.latencies[node]
      output[node] = latest[node] + own
      // The node's own filters take as long again to fill. Its inputs may be delayed by everything upstream.
      readiness[node] = isNew[node] ? readiness[node] + latest[node] + 2 * own : 0
      for position in first[node]..<first[node + 1] {
        let intent = bySource[position]
        let destination = Int(destinations[intent])
        if ports[intent] == 0 {
          firstInput[destination] = max(firstInput[destination], output[node])
        } else {
          let input = Input(node: destinations[intent], port: ports[intent])
          otherInputs[input] = max(otherInputs[input] ?? 0, output[node])
        }
        latest[destination] = max(latest[destination], output[node])
        readiness[destination] = max(readiness[destination], readiness[node])
      }
    }
    for intent in 0..<intentCount where sources[intent] >= 0 {
      var delay: Int32 = 0
      if counts[intent] {
        let input = Input(node: destinations[intent], port: ports[intent])
        let wanted = ports[intent] == 0 ? firstInput[Int(destinations[intent])] : otherInputs[input] ?? 0
        delay = wanted - output[Int(sources[intent])]
      }
      if let intent = graph.setCompensation(delay, at: intent) { arrangement.changed.append(intent) }
    }
    arrangement.readiness = readiness
  }

  private struct Input: Hashable {
    var node: Int32
    var port: Int32
  }
}
