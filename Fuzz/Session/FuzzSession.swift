import FuzzDriver
import Glibc
import PatchLanguage

@testable import Drivers
@testable import Session

/// Feeds arbitrary bytes from libFuzzer to a session (`make fuzz`). The first argument is the kind: `script`
/// or `journal`. Patches, scripts and journals are in memory, so that no run waits for a disk.
let folder = "/dev/shm/sostenuto-fuzz-\(getpid())/"
let patchPath = folder + "fuzz.patch"

func write(_ path: String, _ bytes: some Collection<UInt8>) {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  _ = Array(bytes).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
  close(file)
}

/// Files that patches and scripts may name: a sound, an instrument, and a pipe without a writer.
private func prepare() {
  mkdir(folder, 0o700)
  let samples = (0..<800).map { Float($0 % 50) / 50 - 0.5 }
  if let file = try? SoundFileWriter(
    path: folder + "a.wav", rate: 48000, channels: 2, format: .pcm16, frames: 400)
  {
    try? samples.withUnsafeBufferPointer { try file.write($0.baseAddress!, frames: 400) }
    try? file.finish()
  }
  write(folder + "a.sfz", "<region> sample=a.wav loop_mode=loop_continuous".utf8)
  mkfifo(folder + "a.pipe", 0o600)
}

/// Compared once at start: libFuzzer would record a string comparison in each run as a word of the input.
private let isJournal = fuzzedKind == "journal"

@_cdecl("FuzzSession_main")
public func fuzzSessionMain(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
  prepare()
  return fuzz(count, arguments) { bytes, count in
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    MainActor.assumeIsolated {
      if isJournal { recoverJournal(input) } else { playScript(input) }
    }
    return 0
  }
}
