import Engine
import Patch
import PatchLanguage
import Testing

@testable import Session

/// Instruments and sound files that are opened as if they were patches.
@Suite struct StarterPatchTests {
  @Test(arguments: [
    "piano.sfz", "a b/Grand \"Piano\".SF2", "#1;x.sf3", "é -> ü.Sfz", "take.wav", "x.FLAC", "-.opus",
  ])
  func theFileStandsInThePatchAsItIsNamed(path: String) throws {
    let text = try #require(StarterPatch.text(playing: path))
    let (patch, diagnostics) = PatchReader.read(text, file: "", catalogue: KindRegistry.builtIn.catalogue)
    #expect(diagnostics.isEmpty)
    #expect(patch.nodes.values.contains { $0.settings.values.contains(.text(path)) })
    #expect(PatchWriter.write(patch, catalogue: KindRegistry.builtIn.catalogue) == text, "in canonical form")
  }

  @Test func otherFilesArePatchesAndMidiFilesAreRefusedWithTheWayOut() {
    for path in ["song.patch", "song", "wav", "a.wav/song", ".sfz/x.txt"] {
      #expect(StarterPatch.text(playing: path) == nil && StarterPatch.refusal(of: path) == nil)
    }
    #expect(StarterPatch.refusal(of: "x/Song.MID")?.contains("render PATCH --midi") == true)
  }
}
