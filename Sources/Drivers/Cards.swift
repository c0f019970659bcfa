import Dispatch
import Engine
import Patch
import Realtime
import Recording
import Synchronization

/// The sound cards that nodes have for themselves, beside the driver. They outlive drivers. All methods: Worker.
public final class Cards: @unchecked Sendable {
  /// The audio thread's side.
  let table = CardTable.make()
  private var cards: [Card.Key: (card: Card, slot: Int)] = [:]
  /// Lines that a render under way may still use.
  private var retired: [CardLine] = []
  private var reasons: [Card.Key: String] = [:]

  init() {}

  deinit {
    stop()
    table.deallocate()
  }

  /// Opens and closes cards to match the endpoints that have one. `rate` and `period`: the engine's.
  func update(_ endpoints: [Endpoint], rate: Double, period: Int) {
    let wanted = Dictionary(grouping: endpoints.filter { !$0.device.isEmpty && !$0.isTap }, by: Self.key)
    for (key, known) in cards {
      let channels = wanted[key].map(Self.channels) ?? 0
      guard channels == 0 || channels > known.card.line.channels || known.card.rate != rate,
        let card = remove(key)
      else { continue }
      DispatchQueue(label: "sostenuto.card").async { card.stop() }
    }
    for (key, endpoints) in wanted {
      if cards[key] == nil, let slot = table.firstFree {
        let card = Card(key, channels: Self.channels(of: endpoints), rate: rate, period: period)
        cards[key] = (card, slot)
        card.line.update(endpoints)
        table.set(card.line, at: slot)
        card.start()
      } else {
        cards[key]?.card.line.update(endpoints)
      }
    }
  }

  private static func key(of endpoint: Endpoint) -> Card.Key {
    Card.Key(device: endpoint.device, isInput: endpoint.isInput)
  }

  /// A single output channel is sent to both sides.
  private static func channels(of endpoints: [Endpoint]) -> Int {
    min(max(endpoints.map(\.channels).max() ?? 2, 2), channelCapacity)
  }

  private func remove(_ key: Card.Key) -> Card? {
    guard let old = cards.removeValue(forKey: key) else { return nil }
    table.set(nil, at: old.slot)
    retired.append(old.card.line)
    return old.card
  }

  /// Fades all cards out and closes them, within a second each. Their lines stay until then: the engine may play on.
  func stop() {
    for (card, _) in cards.values { _ = Watched.call(within: 1) { card.stop() } }
    for key in Array(cards.keys) { _ = remove(key) }
  }

  /// Fades all cards out, and waits until that has been heard: half a second at most.
  func withdraw() {
    guard !cards.isEmpty else { return }
    for (card, _) in cards.values { card.hush(true) }
    let latency = cards.values.map(\.card.state.latency).max() ?? 0
    sleep(until: nanoseconds() + Int64(min(OutputFades.seconds + 0.02 + latency, 0.5) * 1e9))
  }

  /// Fades in again after `withdraw`.
  func rejoin() { for (card, _) in cards.values { card.hush(false) } }

  /// Adds what is known of the endpoints' cards.
  func describe(_ endpoints: [Endpoint], _ device: inout DeviceChannels) {
    if !retired.isEmpty, table.isAtRest { retired = [] }
    for endpoint in endpoints where !endpoint.device.isEmpty {
      guard let card = cards[Self.key(of: endpoint)]?.card else {
        var state = CardState(device: endpoint.device)
        state.stage = .absent("there are no more than \(CardTable.capacity) cards beside the driver")
        device.cards[endpoint.node] = state
        continue
      }
      device.cards[endpoint.node] = card.state
      if let channels = card.channels, endpoint.channels > channels {
        device.lacking[endpoint.node] = endpoint.channels - channels
      }
    }
  }

  /// A card that is not there, or is back, and the nodes that have it. Each change is told once.
  func takeNotice(_ endpoints: [Endpoint]) -> (nodes: [NodeID], words: String)? {
    reasons = reasons.filter { cards[$0.key] != nil }
    for (key, known) in cards {
      let nodes = endpoints.filter { Self.key(of: $0) == key }.map(\.node)
      switch known.card.state.stage {
      case .absent(let reason):
        guard reasons.updateValue(reason, forKey: key) == nil else { continue }
        return (nodes, reason)
      case .running:
        guard reasons.removeValue(forKey: key) != nil else { continue }
        return (nodes, "ALSA device \(key.device) is back")
      case .starting: continue
      }
    }
    return nil
  }
}
