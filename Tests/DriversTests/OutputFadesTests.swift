import Testing

@testable import Drivers

/// Fades of a driver's outputs, period by period.
@Suite struct OutputFadesTests {
  /// Plays a constant of one through the fades.
  private final class Player {
    let fades: OutputFades
    private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    private let buffer: UnsafeMutablePointer<Float>
    private let period: Int
    private(set) var heard: [Float] = [0]

    init(isHeard: Bool, period: Int = 64) {
      fades = OutputFades(rate: 48000, isHeard: isHeard)
      self.period = period
      buffer = .allocate(capacity: period)
      outputs = .allocate(capacity: channelCapacity)
      outputs.initialize(repeating: nil, count: channelCapacity)
      outputs[3] = buffer
    }

    deinit {
      fades.deallocate()
      buffer.deallocate()
      outputs.deallocate()
    }

    func play(_ periods: Int) {
      for _ in 0..<periods {
        buffer.update(repeating: 1, count: period)
        fades.apply(outputs, frames: period)
        heard += UnsafeBufferPointer(start: buffer, count: period)
      }
    }

    func interrupt(_ periods: Int) {
      for _ in 0..<periods {
        // What JACK would repeat.
        buffer.update(repeating: -1, count: period)
        fades.interrupt(outputs, frames: period)
        heard += UnsafeBufferPointer(start: buffer, count: period)
      }
    }
  }

  /// A fade over 480 frames has no larger step.
  private let bound: Float = 1.875 / 480 + 1e-4

  @Test(arguments: [1, 64, 100, 1024])
  func anOutputIsSilentUntilItIsHeardAndThenFadesIn(period: Int) {
    let player = Player(isHeard: false, period: period)
    player.play(3)
    #expect(player.heard.allSatisfy { $0 == 0 })
    player.fades.setHeard(3, true)
    player.play(600 / period + 1)
    #expect(largestStep(player.heard[...]) < bound)
    #expect(player.heard.last == 1)
    player.fades.setHeard(3, false)
    player.play(600 / period + 1)
    #expect(largestStep(player.heard[...]) < bound)
    #expect(player.heard.last == 0)
  }

  @Test(arguments: [1, 64, 1024])
  func whatIsInterruptedFadesOutFromItsLastSampleAndComesBackFromSilence(period: Int) {
    let player = Player(isHeard: true, period: period)
    player.play(600 / period + 1)
    for _ in 0..<3 {
      player.interrupt(2000 / period + 1)
      #expect(player.heard.last == 0)
      player.play(600 / period + 1)
      #expect(player.heard.last == 1)
    }
    #expect(largestStep(player.heard[...]) < bound)
    #expect(player.heard.allSatisfy { $0 >= 0 })
  }

  @Test(arguments: [1, 16, 64, 1024])
  func anInterruptionOfAnyLengthHasNoStep(period: Int) {
    let player = Player(isHeard: true, period: period)
    player.play(600 / period + 1)
    for frames in [1, 30, 100, 200, 300, 450, 479, 481, 700] {
      player.interrupt(frames / period + 1)
      player.play(3 + (frames * 7 % 1300) / period)
    }
    player.play(1500 / period + 1)
    #expect(player.heard.last == 1 && player.heard.contains(0))
    #expect(largestStep(player.heard[...]) < bound)
  }

  @Test func closingFadesOutAndOpeningFadesIn() {
    let player = Player(isHeard: true)
    player.play(20)
    player.fades.close(within: 0)
    player.play(20)
    #expect(player.heard.last == 0)
    player.fades.open()
    player.play(20)
    #expect(player.heard.last == 1)
    #expect(largestStep(player.heard[...]) < bound)
  }

  @Test func soundThatGoesOnThroughAnotherOutputDoesNotFade() {
    let player = Player(isHeard: false)
    player.fades.setHeard(3, true, atOnce: true)
    player.play(1)
    #expect(player.heard.dropFirst().allSatisfy { $0 == 1 })
  }
}
