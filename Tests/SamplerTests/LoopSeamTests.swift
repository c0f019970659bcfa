import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// What is laid out of a loop at load is what a voice would find frame by frame.
@Suite struct LoopSeams {
  let folder = Folder()

  @Test(arguments: [SampleQuality.four, .eight, .sinc], [false, true])
  func aSeamChangesNoBit(quality: SampleQuality, isStereo: Bool) throws {
    let seed: UInt64 = 91
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let planes = (0..<(isStereo ? 2 : 1)).map { _ in
      (0..<3000).map { _ in Float.random(in: -0.5...0.5, using: &random) }
    }
    folder.wav("noise.wav", planes)
    for round in 0..<24 {
      let frames = [1, 7, 40, 300, 1500][round % 5] + Int.random(in: 0...30, using: &random)
      let start = Int.random(in: 0...1200, using: &random)
      let fade = round % 3 == 0 ? 0 : Float.random(in: 0...Float(frames), using: &random) / 48000
      let mode = round % 2 == 0 ? "loop_continuous" : "loop_sustain"
      let text =
        "<region> sample=noise.wav loop_mode=\(mode) loop_start=\(start) loop_end=\(start + frames) "
        + "loop_crossfade=\(fade) loop_count=\(round % 7 == 6 ? 5 : 0) ampeg_release=0.2 "
        + "tune=\(Int.random(in: -1900...2400, using: &random))"
      var heard: [[[Float]]] = []
      for hasSeam in [true, false] {
        let (resource, _) = try InstrumentLoader.load(path: folder.write("a.sfz", text))
        let image = UnsafeMutableRawPointer(resource.header).assumingMemoryBound(to: InstrumentImage.self)
        let region = image.pointee.regions
        #expect(region.pointee.seam.end > region.pointee.seam.start)
        if !hasSeam { region.pointee.seam = LoopSeam(none: region.pointee.base) }
        let rig = Rig<Sampler>(Sampler.description, quality: quality)
        rig.use(resource)
        heard.append(rig.run(6000, [(5, .on(60)), (4000, .off(60))]))
      }
      #expect(heard[0] == heard[1], "\(text)")
    }
  }
}
