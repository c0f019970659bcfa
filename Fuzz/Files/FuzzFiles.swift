import FuzzDriver
import Glibc
import Realtime

@testable import Instruments
@testable import Sampler

/// Feeds arbitrary bytes from libFuzzer to the readers of instruments and sound files (`make fuzz`). The
/// first argument is the kind of file: `sfz`, `sf2`, `audio` or `tuning`. For any input: no crash, the reader
/// terminates, and playback yields only finite samples.
private let name = "a." + fuzzedKind
/// In memory, so that no run waits for a disk.
private let folder = "/dev/shm/sostenuto-fuzz-\(getpid())/"

private func write(_ name: String, _ bytes: UnsafeRawBufferPointer) {
  let file = open(folder + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  _ = Glibc.write(file, bytes.baseAddress, bytes.count)
  close(file)
}

private func test(_ bytes: UnsafeRawBufferPointer) {
  write(name, bytes)
  if name == "a.tuning" {
    tune()
    return
  }
  // Inputs of odd length are streamed, as a large sample would be.
  var options = LoadOptions()
  options.waits = true
  if bytes.count % 2 == 1 { (options.largestSample, options.smallestStream) = (0, 0) }
  if name == "a.audio",
    let loaded = try? AudioFileLoader.load(path: folder + name, rate: 44100, options: options)
  {
    let rig = Rig<Player>(Player.description, rate: 44100)
    rig.use(loaded.resource)
    check(rig.run(256, [(0, Event(.play)), (100, Event(.cue, time: 0.01))]))
  }
  guard let (resource, report) = try? InstrumentLoader.load(path: folder + name, options: options) else {
    return
  }
  let rig = Rig<Sampler>(Sampler.description, values: [3: 8])
  rig.use(resource)
  let low = UInt8(report.keys.lowerBound)
  let high = UInt8(min(127, report.keys.upperBound))
  let middle = low + (high - low) / 2
  check(
    rig.run(
      512,
      [
        (0, .on(low)), (0, .on(middle, 90)), (0, .on(high, 30)), (70, .on(60, 100)), (100, .control(1, 127)),
        (130, Event(.bend, value: 1)), (150, .off(60)), (200, .off(middle)), (260, .off(low)),
      ]))
}

/// Reads the bytes as a scale, as a key map and as both: every key has a finite pitch or none (NaN).
private func tune() {
  let path = folder + name
  for (scale, keyMap) in [(path, nil), (nil, path), (path, path)] as [(String?, String?)] {
    guard let tuning = try? Tuning(scale: scale, keyMap: keyMap) else { continue }
    precondition(tuning.offsets.count == 128, "as many pitches as keys")
    precondition(tuning.offsets.allSatisfy { !$0.isInfinite }, "a key without end")
  }
}

private func check(_ output: [[Float]]) {
  precondition(output.allSatisfy { $0.allSatisfy(\.isFinite) }, "sounds like no number")
}

private func prepare() {
  mkdir(folder, 0o700)
  // Sample files that an SFZ text may name.
  if name == "a.sfz" {
    let other = Folder()
    let path = other.wav("a.wav", [noise(400), noise(400, seed: 2)], loop: 100...300, key: 62)
    rename(path, folder + "a.wav")
    link(folder + "a.wav", folder + "b.wav")
  }
}

@_cdecl("FuzzFiles_main")
public func fuzzFilesMain(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
  prepare()
  return fuzz(count, arguments) { bytes, count in
    test(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
  }
}
