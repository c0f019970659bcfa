import Engine
import Patch
import Testing

@testable import Interface

/// Files that load, on the screen.
@Suite struct ViewsLoadingTests {
  @Test func howFarAFileIsStandsInTheStatusLineOnItsNodeAndInTheNodesLine() {
    var (scene, state) = reconnecting()
    let load = FileLoad(name: "grand.sf2", fraction: 0.456)
    scene.status.loading = [load]
    scene.change("piano") { $0.loading = load }
    state.focus = scene.patch[named: "piano"]?.id
    let lines = Views.draw(scene, state, columns: 110, rows: 30).lines
    #expect(lines[0].contains("loading grand.sf2 45 %   "))
    #expect(lines.contains { $0.contains("┗ loading 45 %  ┛") })
    // The boxes do not move.
    scene.change("piano") { $0.loading = nil }
    let before = Views.draw(scene, state, columns: 110, rows: 30).lines
    #expect(before[2] == lines[2])
    #expect(lines[28].hasPrefix(" piano ▸ sampler   loading grand.sf2 45 %   "))
    // With less room, it stays as long as any other figure.
    #expect(Views.draw(scene, state, columns: 80, rows: 24).lines[0].contains("loading grand.sf2 45 %"))
  }

  @Test func whatAFileTakesWhatCameTooLateAndWhyAnotherCannotBeHad() {
    var (scene, state) = reconnecting()
    scene.status.underruns = 2
    scene.change("piano") {
      $0.memory = 142 << 20
      $0.underruns = 2
      $0.fault = "gone.sfz: No such file or directory"
    }
    state.focus = scene.patch[named: "piano"]?.id
    let lines = Views.draw(scene, state, columns: 110, rows: 30).lines
    #expect(lines[0].contains("under-runs 2"))
    let line =
      " piano ▸ sampler   plays on, since gone.sfz: No such file or directory   under-runs 2   142 MB   "
    #expect(lines[28].hasPrefix(line))
  }
}
