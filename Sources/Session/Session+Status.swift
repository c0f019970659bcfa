import Drivers
import Engine
import Recording

extension Session {
  /// DSP load: the share of the period used for rendering.
  public var load: Double { supervisor.status.load }

  /// Figures for the status line.
  public var status: SessionStatus {
    var status = SessionStatus()
    let driver = supervisor.status
    status.driver = supervisor.driver?.name ?? "none"
    status.isPatchbay = options.isPatchbay
    status.rate = engine.rate
    status.period = engine.period
    status.roundTrip = driver.roundTrip
    status.isFreewheeling = driver.isFreewheeling
    status.load = driver.load
    status.peakLoad = driver.peakLoad
    status.xruns = driver.xruns
    status.driverMessage = supervisor.message
    status.isDisturbed = supervisor.isDisturbed
    status.loading = library.loading
    status.memory = library.bytes
    status.underruns = library.underruns
    status.lostMidi = driver.lostMidi
    status.journalFault = journalFault
    status.lostEvents = engine.lostEvents
    status.lostTraceEntries = engine.lostTraceEntries
    status.transport = transportStatus
    status.song = songStatus
    status.takes = runningTakes.filter { $0.owner == nil }.map(\.take.status)
    if options.isPatchbay {
      let graph = programs.patchbay?.picture.graph ?? ServerGraph()
      let server = options.driver.jack.server.map { "JACK server \($0)" } ?? "JACK server"
      let isUnanswered = programs.patchbay?.isUnanswered ?? false
      status.driverMessage =
        isUnanswered
        ? "the \(server) does not answer: waiting for it"
        : graph.isRunning ? "connections of the \(server)" : "no \(server): looking for one"
      status.programs = graph.ports.count
      status.connections = graph.links.count
      status.isDisturbed = !graph.isRunning || isUnanswered
    }
    let nodes = report.nodes
    // By index: an element of a loop would be a copy.
    for index in nodes.indices {
      status.voices += nodes[index].voices
      status.polyphony += nodes[index].polyphony
      if let card = nodes[index].card { status.cards[nodes[index].name] = card }
      if nodes[index].isMuted { status.muted.append(nodes[index].name) }
    }
    return status
  }
}
