import Analysis
import Patch
import Session

/// Listens to the port that a view looks at, and measures it. Main thread.
@MainActor final class Ear {
  private var port: ListenedPort?
  private var name = ""
  private var history: SoundHistory?
  private var spectrum: SpectrumAnalyser?
  private var pitch: PitchDetector?
  private var meter: LoudnessMeter?
  private var held: Spectrum?
  private var pitches: [Pitch?] = []
  private var course: [LoudnessPoint] = []
  private var coursePeak = LoudnessPoint(momentary: -.infinity, shortTerm: -.infinity)
  /// Loudness of this port has been asked for.
  private var isMetering = false

  /// Seconds of sound that it keeps.
  private static let memory = 1.4
  /// Looks of the tuner, and quarters of a second of loudness, that are kept.
  private static let mostPitches = 600
  private static let mostPoints = 2400
  /// Channels of which spectra are taken and traces drawn.
  nonisolated static let mostChannels = 8

  /// Listens to a port by that name; nil: to none. Measurements go on where only the node behind the name is another.
  func listen(to port: ListenedPort?, name: String, _ desk: Desk) {
    guard port != self.port else {
      self.name = name
      return
    }
    self.port = port
    desk.workbench.listen(to: port)
    if port == nil || name != self.name { forget() }
    self.name = name
  }

  private func forget() {
    history = nil
    isMetering = false
    reset()
  }

  /// Begins held peaks, the course of pitches and all loudness anew.
  func reset() {
    (held, meter) = (nil, nil)
    (pitches, course) = ([], [])
    coursePeak = LoudnessPoint(momentary: -.infinity, shortTerm: -.infinity)
  }

  /// Hears what has come since the last call. False: there is nothing to hear.
  func hear(_ desk: Desk) -> Bool {
    guard let sound = desk.workbench.takeListened() else { return history != nil }
    if history?.channels != sound.samples.count || history?.rate != sound.rate {
      forget()
      history = SoundHistory(channels: sound.samples.count, rate: sound.rate, seconds: Self.memory)
      spectrum = nil
      pitch = nil
    }
    history?.append(sound.samples, frames: sound.frames)
    if desk.state.sound.mode == .loudness { isMetering = true }
    if isMetering { measureLoudness(sound) }
    return true
  }

  /// Loudness has a memory: once it is looked at, it is measured on while another mode is shown.
  private func measureLoudness(_ sound: ListenedSound) {
    let meter = meter ?? LoudnessMeter(channels: sound.samples.count, rate: sound.rate)
    self.meter = meter
    let before = Int(meter.loudness.seconds * 4)
    meter.append(sound.samples, frames: sound.frames)
    let loudness = meter.loudness
    coursePeak.momentary = max(coursePeak.momentary, loudness.momentary)
    coursePeak.shortTerm = max(coursePeak.shortTerm, loudness.shortTerm)
    guard Int(loudness.seconds * 4) > before else { return }
    course.append(coursePeak)
    coursePeak = LoudnessPoint(momentary: -.infinity, shortTerm: -.infinity)
    if course.count > Self.mostPoints { course.removeFirst(course.count - Self.mostPoints) }
  }

  /// Picture of the sound now, in these modes. `dots`: columns of the scope's trace.
  func picture(_ state: SoundState, dots: Int, modes: [SoundState.Mode]) -> SoundPicture {
    guard let history else { return SoundPicture() }
    var picture = SoundPicture()
    picture.name = name
    picture.channels = history.channels
    picture.rate = history.rate
    let all = 0..<min(history.channels, Self.mostChannels)
    let channels = state.channel.flatMap { $0 < history.channels ? $0..<$0 + 1 : nil } ?? all
    picture.peak = history.peak(Int(history.rate / 2), channels: channels)
    picture.scale = state.scale.map { SoundState.scales[$0] } ?? Self.scale(for: picture.peak)
    for mode in modes { look(history, channels, mode, state, dots, &picture) }
    return picture
  }

  private func look(
    _ history: SoundHistory, _ channels: Range<Int>, _ mode: SoundState.Mode, _ state: SoundState,
    _ dots: Int,
    _ picture: inout SoundPicture
  ) {
    switch mode {
    case .scope:
      picture.trace = ScopeTrace(
        history, channels: channels, seconds: SoundState.spans[state.span], columns: dots,
        trigger: state.trigger, level: picture.scale * Float(state.triggerLevel) / 10)
    case .spectrum:
      let analyser = spectrum ?? SpectrumAnalyser(rate: history.rate)
      spectrum = analyser
      let now = analyser.measure(history, channels: channels)
      // A sound that began within the window has more frequencies than its own.
      if history.heard >= Int64(analyser.frames) {
        if held == nil { held = now } else { held?.hold(now) }
      }
      (picture.spectrum, picture.held) = (now, held)
    case .tuner:
      let detector = pitch ?? PitchDetector(rate: history.rate)
      pitch = detector
      let now = detector.measure(history, channels: channels)
      // A silent course does not move, so that a silent screen rests.
      if now != nil || pitches.suffix(Self.gap).contains(where: { $0 != nil }) { pitches.append(now) }
      if pitches.count > Self.mostPitches { pitches.removeFirst(pitches.count - Self.mostPitches) }
      (picture.pitch, picture.pitches) = (now, pitches)
    case .loudness:
      picture.course = course
      picture.loudness = meter?.loudness ?? Loudness()
      // Whole seconds, so that silence is drawn no more often.
      picture.loudness.seconds.round(.down)
    }
  }

  /// Looks without a pitch that are kept between two notes.
  private static let gap = 10

  /// The smallest scale that holds the peak; of silence, full scale.
  private static func scale(for peak: Float) -> Float {
    guard peak > 0.0005 else { return 1 }
    return SoundState.scales.first { $0 >= peak } ?? SoundState.scales[SoundState.scales.count - 1]
  }
}
