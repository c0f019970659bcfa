import FuzzDriver
import Midi

/// Feeds arbitrary bytes from libFuzzer to the MIDI file reader (`make fuzz`). For any input: no crash, the
/// byte offset of an error lies within the file, and events are in order of time.
private func test(_ bytes: UnsafeRawBufferPointer) {
  let input = Array(bytes)
  do throws(MidiFileError) {
    let file = try MidiFile(bytes: input)
    precondition(file.duration.isFinite && file.duration >= 0, "a duration that is none")
    var before = 0.0
    for event in file.events {
      precondition(event.seconds >= before && event.seconds <= file.duration, "events out of order")
      before = event.seconds
    }
  } catch {
    precondition((0...input.count).contains(error.offset), "an error outside of the file")
  }
}

@_cdecl("FuzzMidi_main")
public func fuzzMidiMain(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
  fuzz(count, arguments) { bytes, count in
    test(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
  }
}
