import Midi

/// Feeds arbitrary bytes to the reader of MIDI files, as libFuzzer finds them (`make fuzz`). Whatever comes
/// in, nothing crashes, an error is at a byte of the file, and events are in order.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMidi(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  do throws(MidiFileError) {
    let file = try MidiFile(bytes: input)
    precondition(file.duration.isFinite && file.duration >= 0, "a duration that is none")
    var before = 0.0
    for event in file.events {
      precondition(event.seconds >= before && event.seconds <= file.duration, "events out of order")
      before = event.seconds
    }
  } catch {
    precondition((0...count).contains(error.offset), "an error outside of the file")
  }
  return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The package manager gives a program's `main` this name, and libFuzzer's own is not found under it.
@_cdecl("FuzzMidi_main")
public func fuzzMidiMain(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
  var (count, arguments) = (count, arguments)
  return runFuzzer(&count, &arguments) { fuzzMidi($0, $1) }
}
