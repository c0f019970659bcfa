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

  @Test func otherFilesArePatchesAndASongHasABank() {
    for path in ["song.patch", "song", "wav", "a.wav/song", ".sfz/x.txt"] {
      #expect(StarterPatch.text(playing: path) == nil)
    }
    // A song has a bank with room for all its parts, which the keyboard and MIDI play too.
    let song = StarterPatch.text(playing: "x/Song.MID") ?? ""
    #expect(song.contains("node band sampler") && song.contains("polyphony=256"))
    #expect(song.contains("connect midi -> band") && StarterPatch.isSong("x/Song.MID"))
  }
}
