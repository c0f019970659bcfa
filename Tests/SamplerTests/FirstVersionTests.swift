import Testing

@testable import Instruments
@testable import Sampler

/// All opcodes of SFZ 1, in the order of its description at sfzformat.info.
@Suite struct FirstVersion {
  let folder = Folder()

  @Test func everyOpcodeIsUnderstood() throws {
    let stages = ["delay", "start", "attack", "hold", "decay", "sustain", "release"]
    var opcodes = """
      sample=*sine lochan=1 hichan=16 lokey=0 hikey=127 key=60 lovel=1 hivel=127 locc1=0 hicc1=127 lobend=-8192
      hibend=8192 lochanaft=0 hichanaft=127 lopolyaft=0 hipolyaft=127 lorand=0 hirand=1 lobpm=0 hibpm=500
      seq_length=1 seq_position=1 sw_lokey=0 sw_hikey=1 sw_last=1 sw_down=1 sw_up=1 sw_previous=1 sw_vel=current
      trigger=attack group=1 off_by=2 off_mode=fast on_locc1=1 on_hicc1=2 delay=0 delay_random=0 delay_cc1=0
      offset=0 offset_random=0 offset_cc1=0 end=100 count=1 loop_mode=no_loop loop_start=0 loop_end=10
      sync_beats=0 sync_offset=0 transpose=0 tune=0 pitch_keycenter=60 pitch_keytrack=100 pitch_veltrack=0
      pitch_random=0 bend_up=200 bend_down=-200 bend_step=1 fil_type=lpf_2p cutoff=1000 cutoff_cc1=0
      cutoff_chanaft=0 cutoff_polyaft=0 resonance=0 fil_keytrack=0 fil_keycenter=60 fil_veltrack=0 fil_random=0
      volume=0 pan=0 width=100 position=0 amp_keytrack=0 amp_keycenter=60 amp_veltrack=100 amp_velcurve_64=0.5
      amp_random=0 rt_decay=0 output=1 gain_cc1=0 xfin_lokey=0 xfin_hikey=0 xfout_lokey=127 xfout_hikey=127
      xf_keycurve=power xfin_lovel=0 xfin_hivel=0 xfout_lovel=127 xfout_hivel=127 xf_velcurve=power xfin_locc1=0
      xfin_hicc1=0 xfout_locc1=127 xfout_hicc1=127 xf_cccurve=power effect1=10 effect2=20
      """
    for stage in stages { opcodes += " ampeg_\(stage)cc1=0" }
    for envelope in ["pitcheg", "fileg", "ampeg"] {
      for stage in stages {
        opcodes += " \(envelope)_\(stage)=0"
        if stage != "start" { opcodes += " \(envelope)_vel2\(stage)=0" }
      }
      if envelope != "ampeg" { opcodes += " \(envelope)_depth=0 \(envelope)_vel2depth=0" }
    }
    for lfo in ["pitchlfo", "fillfo", "amplfo"] {
      opcodes += " \(lfo)_delay=0 \(lfo)_fade=0 \(lfo)_freq=1 \(lfo)_depth=0"
      for moved in ["depth", "freq"] {
        for source in ["cc1", "chanaft", "polyaft"] { opcodes += " \(lfo)_\(moved)\(source)=0" }
      }
    }
    for band in 1...3 {
      for part in [
        "freq=100", "freqcc1=0", "vel2freq=0", "bw=1", "bwcc1=0", "gain=0", "gaincc1=0", "vel2gain=0",
      ] {
        opcodes += " eq\(band)_\(part)"
      }
    }
    let (_, report) = try InstrumentLoader.load(path: folder.write("a.sfz", "<region> " + opcodes))
    #expect(report.findings == [])
    #expect(report.opcodes.count > 170)
    #expect(report.opcodes.filter { !$0.isUnderstood }.map(\.name) == [])
  }
}
