private func words(_ text: String) -> [String] { text.split(whereSeparator: \.isWhitespace).map(String.init) }

/// The supported opcodes by topic, for the reference. Wherever `_onccN` is listed, `_ccN` (and for SFZ 1's
/// names `ccN`), `_curveccN`, `_stepccN` and `_smoothccN` are supported as well; `varN_` combines with the
/// same names as `_onccN`.
public let sfzOpcodes: [(topic: String, names: [String])] = [
  (
    "headers",
    words(
      """
      #define #include <control> <global> <master> <group> <region> <curve> default_path note_offset
      octave_offset sw_note_offset sw_octave_offset set_ccN set_hdccN set_realccN curve_index vN <sample> name data
      base64data encoding
      """)
  ),
  (
    "sample",
    words(
      """
      sample key lokey hikey lovel hivel pitch_keycenter pitch_keytrack tune transpose offset offset_random
      end delay delay_random loop_type loop_mode loop_start loop_end loop_crossfade loop_count count phase
      pitch_random offset_onccN delay_onccN delay_samples delay_samples_onccN sync_beats sync_offset
      delay_beats stop_beats delay_beats_onccN stop_beats_onccN direction reverse_loccN reverse_hiccN
      """)
  ),
  (
    "when",
    words(
      """
      trigger seq_length seq_position lorand hirand loccN hiccN on_loccN on_hiccN start_loccN start_hiccN
      stop_loccN stop_hiccN lohdccN hihdccN lorealccN hirealccN sw_lokey sw_hikey sw_default sw_last sw_lolast sw_hilast
      sw_down sw_up sw_previous sw_vel lochan hichan lobend hibend lochanaft hichanaft lopolyaft hipolyaft
      loprog hiprog group off_by off_mode off_time off_shape off_curve polyphony note_polyphony note_selfmask
      rt_decay rt_decayN rt_decayN_time rt_dead lobpm hibpm sustain_sw sustain_cc sustain_lo sostenuto_sw
      sostenuto_cc sostenuto_lo
      """)
  ),
  (
    "loudness and place",
    words(
      """
      volume gain amplitude pan width position global_volume master_volume group_volume global_amplitude
      master_amplitude group_amplitude amp_veltrack amp_velcurve_N amp_keytrack amp_keycenter amp_random
      pan_keytrack pan_keycenter pan_veltrack position_keytrack position_keycenter position_veltrack
      amp_veltrack_onccN xfin_lokey xfin_hikey xfout_lokey xfout_hikey xf_keycurve xfin_lovel xfin_hivel
      xfout_lovel xfout_hivel xf_velcurve xfin_loccN xfin_hiccN xfout_loccN xfout_hiccN xf_cccurve
      volume_onccN amplitude_onccN pan_onccN width_onccN position_onccN amplitude_mod volume_mod pan_mod
      width_mod position_mod pan_random width_random position_random
      """)
  ),
  ("outputs and sends", words("output effect1 effect2 effect1_onccN effect2_onccN")),
  (
    "effects of the whole",
    words(
      """
      <effect> type bus directtomain fx1tomain fx2tomain bitred decim filter_type filter_cutoff filter_resonance
      eq_type eq_freq eq_bw eq_gain gain width disto_depth disto_tone disto_stages disto_wet disto_dry
      """)
  ),
  (
    "oscillators",
    words(
      """
      oscillator oscillator_phase oscillator_quality oscillator_table_size oscillator_multi oscillator_mode
      oscillator_detune oscillator_detune_onccN oscillator_mod_depth oscillator_mod_depth_onccN
      """)
  ),
  (
    "noise, bits and drive",
    words(
      """
      noise_level noise_level_onccN noise_step noise_step_onccN noise_tone noise_tone_onccN noise_filter noise_stereo
      bitred bitred_onccN bitred_mod decim decim_onccN decim_mod drive drive_onccN drive_shape drive_shape_onccN
      egN_bitred egN_decim egN_drive egN_driveshape egN_noiselevel egN_noisestep egN_noisetone lfoN_bitred lfoN_decim
      lfoN_drive lfoN_driveshape lfoN_noiselevel lfoN_noisestep lfoN_noisetone
      """)
  ),
  (
    "pitch",
    words(
      """
      bend_up bend_down bend_smooth bend_step bend_stepup bend_stepdown pitch_veltrack pitch_veltrack_onccN
      global_tune master_tune group_tune tune_onccN pitch_onccN pitch_mod tune_mod
      transpose_onccN
      """)
  ),
  (
    "variables",
    words("varN_mod varN_onccN varN_curveccN varN_pitch varN_cutoff varN_volume varN_eqNgain")
  ),
  (
    "envelopes",
    ["ampeg", "pitcheg", "fileg"].flatMap { unit in
      words("delay attack hold decay sustain release start").flatMap {
        ["\(unit)_\($0)", "\(unit)_vel2\($0)", "\(unit)_\($0)_onccN"]
      } + words("attack_shape decay_shape release_shape decay_zero release_zero").map { "\(unit)_\($0)" }
    }
      + words(
        """
        pitcheg_depth pitcheg_vel2depth pitcheg_depth_onccN fileg_depth fileg_vel2depth fileg_depth_onccN
        ampeg_dynamic pitcheg_dynamic fileg_dynamic egN_dynamic egN_points egN_timeN egN_levelN egN_shapeN
        egN_curveN egN_sustain egN_loop egN_loop_count egN_loop_shape egN_freq_lfoN egN_depth_lfoN
        egN_eqNgain egN_eqNfreq egN_eqNbw egN_fil_gain egN_pitch egN_cutoff egN_resonance
        egN_volume egN_amplitude egN_ampeg egN_pan egN_width egN_timeN_onccN egN_levelN_onccN
        """)
  ),
  (
    "LFOs",
    ["amplfo", "pitchlfo", "fillfo"].flatMap { unit in
      words("freq beats depth delay fade depthccN freqccN depthchanaft depthpolyaft").map { "\(unit)_\($0)" }
    }
      + words(
        """
        lfoN_freq lfoN_beats lfoN_phase_onccN lfoN_freq_lfoN lfoN_depth_lfoN lfoN_eqNgain lfoN_eqNfreq
        lfoN_eqNbw lfoN_fil_gain
        lfoN_delay lfoN_fade lfoN_phase lfoN_wave lfoN_count lfoN_pitch lfoN_cutoff lfoN_resonance
        lfoN_volume lfoN_amplitude lfoN_pan lfoN_width lfoN_position lfoN_offset lfoN_scale lfoN_ratio
        lfoN_waveN lfoN_offsetN lfoN_scaleN lfoN_ratioN lfoN_steps lfoN_stepN lfoN_freq_onccN
        lfoN_pitch_onccN
        """)
  ),
  (
    "filters and bands",
    words(
      """
      cutoff resonance fil_type fil_keytrack fil_keycenter fil_veltrack fil_veltrack_onccN fil_random
      cutoff2 resonance2 fil2_type fil2_keytrack fil2_keycenter fil2_veltrack cutoff_onccN resonance_onccN
      cutoff_chanaft cutoff_polyaft eqN_freq eqN_bw eqN_gain eqN_type fil_gain fil2_gain eqN_vel2gain
      eqN_vel2freq eqN_gain_onccN eqN_freq_onccN eqN_bw_onccN cutoff_mod resonance_mod cutoff2_mod
      resonance2_mod fil_gain_mod fil2_gain_mod
      """)
  ),
]
