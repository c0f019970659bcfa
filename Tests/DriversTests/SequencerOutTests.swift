import CFakeAlsa
import Engine
import Patch
import Realtime
import TestSupport
import Testing

@testable import Drivers

/// MIDI outputs of drivers that use ALSA's sequencer.
@Suite(.serialized) @MainActor struct SequencerOutTests {
  /// The bytes that went out so far, by port.
  private func sent() -> [UInt8: [UInt8]] {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    bytes.removeLast(bytes.count - Int(fake_sequencer_sent(&bytes, UInt32(bytes.count))))
    var result: [UInt8: [UInt8]] = [:]
    var place = 0
    while place < bytes.count {
      let count = Int(bytes[place + 1]) + 256 * Int(bytes[place + 2])
      result[bytes[place], default: []] += bytes[place + 3..<place + 3 + count]
      place += 3 + count
    }
    return result
  }

  private func outlet(_ number: Int) -> MidiPort {
    MidiPort(
      number: number, outlet: MidiPort.Outlet(node: NodeID(raw: 1), name: "o\(number)", receivers: "none"))
  }

  @Test func messagesOfBothOutputsLeaveInOrderAlsoWhenTheSequencerIsFullAndNotesEndWithThem() throws {
    fake_sequencer_insert(true)
    defer { fake_sequencer_insert(false) }
    let host = RenderHost(Engine(rate: 48000, period: 64).renderer)
    let sequencer = try AlsaSequencer.open(host: host, wishes: ConnectionWishes()).get()
    try sequencer.start()
    sequencer.update([outlet(0), outlet(1)])
    #expect(wait { fake_sequencer_ports() == 3 })
    var random = SeededGenerator(seed: 15)
    let exclusive = [0xF0] + (0..<3000).map { UInt8($0 % 128) } + [0xF7] as [UInt8]
    let whole = try #require(host.midi.exclusives.add(exclusive, count: exclusive.count, offset: 3))
    // The thread must have taken the ports before the first message.
    #expect(
      wait {
        host.midi.outputs[1].events.pointee.append(Event(.system, key: 0x8))
        host.midi.depart(frames: 64, length: 0, now: 0)
        return sent()[2] != nil
      })
    var expected: [UInt8] = []
    for round in 0..<50 {
      fake_sequencer_fill(Int32.random(in: 0...3, using: &random))
      let key = UInt8.random(in: 0...127, using: &random)
      host.midi.outputs[0].events.pointee.append(Event(.noteOn, channel: 2, key: key, value: 99, offset: 1))
      expected += [0x92, key, 99]
      if round % 10 == 0 {
        host.midi.outputs[0].events.pointee.append(whole)
        expected += exclusive
      }
      host.midi.outputs[0].events.pointee.append(Event(.bend, channel: 2, value: 0.5, offset: 5))
      expected += [0xE2, 0, 96]
      if round < 49 {
        host.midi.outputs[0].events.pointee.append(
          Event(.noteOff, channel: 2, key: key, value: 0, offset: 60))
        expected += [0x82, key, 0]
      } else {
        expected += [0x82, key, 64]
      }
      host.midi.depart(frames: 64, length: 1_000_000, now: nanoseconds())
      #expect(wait { sent()[1]?.count ?? 0 >= expected.count - (round < 49 ? 0 : 3) })
    }
    sequencer.update([outlet(1)])
    #expect(wait { sent()[1]?.count == expected.count })
    #expect(sent()[1] == expected)
    sequencer.stop()
    #expect(host.midi.lost == 0)
    _ = host.close()
  }
}
