import Realtime

/// Keeps two clocks in step: the engine's, which other hardware leads, and a card's. Two loops learn what the clocks do;
/// the ratio of their rates is the resampler's, but for a little that brings the distance between the two positions to
/// what it should be (as zita-ajbridge does by F. Adriaensen). A card's thread.
struct Servo {
  private(set) var engine: TimeLoop
  private(set) var card: TimeLoop
  private let engineRate: Double
  private let cardRate: Double
  private let start: Int64
  /// Frames of the engine's latest period.
  private(set) var period = 0

  /// Seconds in which both loops learn before anything is heard.
  private static let learning = 0.5
  /// Share of a distance that is made up for in a second, and the most that the ratio departs from the clocks' for it:
  /// 0.05 %, less than a cent.
  private static let eagerness = 0.1
  private static let mostCorrection = 5e-4

  init(engineRate: Double, cardRate: Double, now: Int64) {
    (self.engineRate, self.cardRate, start) = (engineRate, cardRate, now)
    engine = TimeLoop(rate: engineRate)
    card = TimeLoop(rate: cardRate)
  }

  private func seconds(_ time: Int64) -> Double { Double(time - start) * 1e-9 }

  /// Takes the engine's stamps. False if its stream did not go on.
  mutating func take(_ stamps: Ring) -> Bool {
    var goesOn = true
    while let next = stamps.peek() {
      let stamp = next.load(as: CardLine.Stamp.self)
      stamps.pop()
      period = stamp.frames
      if !engine.add(seconds(stamp.time), position: Double(stamp.position)) { goesOn = false }
    }
    return goesOn
  }

  /// Takes the time at which the card was ready for the frame `position`.
  mutating func take(card position: Int, at time: Int64) -> Bool {
    card.add(seconds(time), position: Double(position))
  }

  mutating func restartCard() { card.restart() }

  /// True when both loops have learned enough, and the engine's stamps still come.
  var isReady: Bool { engine.age >= Self.learning && card.age >= Self.learning && !isEngineSilent }

  /// True when no stamp has come for a while.
  var isEngineSilent: Bool {
    card.time - engine.time > 0.1 + 3 * Double(period) / engineRate
  }

  /// Frame of the engine's clock at the card's latest stamp.
  var enginePosition: Double { engine.position(at: card.time) }

  /// The card's rate divided by the engine's, as they are, not as they are called.
  var rates: Double { card.rate / engine.rate }

  /// Share by which a path that is `excess` frames of the engine too long goes faster.
  func correction(_ excess: Double) -> Double {
    let most = Self.mostCorrection
    return min(max(Self.eagerness * excess / engineRate, -most), most)
  }

  /// Millionths by which the card is faster than the engine.
  var drift: Double { (rates * engineRate / cardRate - 1) * 1e6 }
}
