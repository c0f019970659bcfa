import Engine
import Glibc
import Patch
import PatchLanguage

@testable import Session

/// Patch for scripts whose text brings none of its own before a line `---`.
private let ordinary = """
  sostenuto 1
  node keys keyboard
  node piano sampler instrument=a.sfz
  node osc oscillator freq=[220Hz,330Hz] channels=2
  node dist distortion drive=18dB
  node main matrix inputs=4 outputs=2
  node out output
  connect keys -> piano
  connect piano -> dist
  connect osc -> dist gain=-12dB
  connect dist -> main map=[0,1,-1,-1]
  connect main -> out

  """

/// Length of the rendered sound, in seconds. Later script lines are performed at its end.
private let length = 0.04

/// Performs a script. For any input: no crash, a script that passes the check can be performed, the sound
/// does not depend on the period, and undo leads back to the initial document.
@MainActor func playScript(_ bytes: [UInt8]) {
  let (patch, text) = parts(of: String(decoding: bytes, as: UTF8.self))
  write(patchPath, patch.utf8)
  var (lines, _) = Script.read(text, file: "fuzz.script")
  // Lines of one time are performed in the order of the file, and have to be checked so.
  for index in lines.indices { lines[index].time = min(lines[index].time, length) }
  lines.sort { ($0.time, $0.line) < ($1.time, $1.line) }
  let session = Session(options: options(period: 64))
  guard (try? session.open(patchPath)) != nil else { return }
  let wrong = Set(Script.check(lines, on: session.patch, file: "fuzz.script").map(\.line))
  let script = lines.filter { !wrong.contains($0.line) }
  let first = session.patch
  let sound = render(script, session)
  let (last, redoable) = (session.patch, session.redoList.count)
  checkText(last)
  while (try? session.undo()) != nil {}
  precondition(session.patch == first, "undo leads elsewhere")
  try? session.renderOneBlock()
  while session.redoList.count > redoable { _ = try? session.redo() }
  precondition(session.patch == last, "redo leads elsewhere")
  try? session.renderOneBlock()
  guard bytes.count % 2 == 0 else { return }
  let other = Session(options: options(period: 1 + bytes.count * 7 % 2048))
  guard (try? other.open(patchPath)) != nil else { preconditionFailure("opens once only") }
  precondition(render(script, other) == sound, "another period sounds otherwise")
}

private func parts(of text: String) -> (patch: String, script: String) {
  let parts = text.split(separator: "\n---\n", maxSplits: 1, omittingEmptySubsequences: false)
  return parts.count > 1 ? (String(parts[0]), String(parts[1])) : (ordinary, text)
}

private func options(period: Int) -> SessionOptions {
  var options = SessionOptions()
  options.isOffline = true
  options.keepsJournal = false
  options.mayRecord = false
  options.driver.period = period
  return options
}

@MainActor private func render(_ script: [ScriptLine], _ session: Session) -> [UInt8] {
  var request = RenderRequest(seconds: length)
  request.script = script
  request.output = folder + "fuzz.wav"
  do {
    try session.render(request)
  } catch {
    preconditionFailure("the check passed what cannot be performed: \(error)")
  }
  return (try? PatchFile.read(folder + "fuzz.wav")) ?? []
}

/// A written patch reads back unchanged.
func checkText(_ patch: Patch) {
  let text = PatchWriter.write(patch, catalogue: KindRegistry.builtIn.catalogue)
  let again = PatchReader.read(text, file: "fuzz.patch", catalogue: KindRegistry.builtIn.catalogue)
  precondition(!again.diagnostics.contains { $0.severity == .error }, "refuses what it wrote itself")
  precondition(
    PatchWriter.write(again.patch, catalogue: KindRegistry.builtIn.catalogue) == text,
    "changes at each saving")
}
