import Realtime

/// Program of a channel for its next notes.
struct ProgramChoice: BitwiseCopyable {
  var bank: Int
  var program: Int
  /// Bank and program from the node's settings.
  var homeBank: Int
  var homeProgram: Int
  /// True for a drum channel.
  var isRhythm: Bool
  /// Index among the instrument's programs.
  var place = 0

  init(bank: Int, program: Int, isRhythm: Bool) {
    self.bank = bank
    self.program = program
    self.isRhythm = isRhythm
    homeBank = bank
    homeProgram = program
  }
}

/// Programs of a bank. All of them are resident, so a program change is a number; sounding voices continue.
extension Sampler {
  private static var drums: Int { @_noLocks get { 128 } }
  /// The tenth channel has drums in General MIDI.
  static var drumChannel: Int { @_noLocks get { 9 } }

  /// Looks up the chosen programs in the instrument. Audio thread.
  @_noLocks mutating func findPrograms() {
    for channel in 0..<Self.channels { findProgram(channel) }
  }

  @_noLocks private func findProgram(_ channel: Int) {
    let choice = choices + channel
    guard let image else { return }
    let hasDrums = choice.pointee.isRhythm && followsChanges && image.pointee.has(bank: Self.drums)
    choice.pointee.place = image.pointee.select(
      bank: hasDrums ? Self.drums : choice.pointee.bank, program: choice.pointee.program)
  }

  /// Handles a program change, with the bank selected before. Audio thread.
  @_noLocks mutating func change(_ channel: Int, to program: Int) {
    guard followsChanges else { return }
    let coarse = Int(controls[channel &* 128])
    // Drum and melodic banks of General MIDI 2, and drum banks of XG.
    if coarse == 120 || coarse == 126 || coarse == 127 {
      choices[channel].isRhythm = image == nil || !image!.pointee.has(bank: coarse)
    } else if coarse == 121 {
      choices[channel].isRhythm = false
    }
    choices[channel].program = program
    choices[channel].bank = selectedBank(channel, program)
    findProgram(channel)
  }

  /// Handles the drum part messages of GS and XG. Audio thread.
  @_noLocks mutating func setRhythm(_ channel: Int, _ isRhythm: Bool) {
    guard choices[channel].isRhythm != isRhythm else { return }
    choices[channel].isRhythm = isRhythm
    choices[channel].program = isRhythm ? 0 : choices[channel].homeProgram
    findProgram(channel)
  }

  /// Handles a reset of General MIDI, GS or XG: ends notes, resets controllers, programs and tunings. Audio
  /// thread.
  @_noLocks mutating func resetModule(time: Int64) {
    for channel in 0..<Self.channels {
      endNotes(channel, time: time)
      for control in 0..<128 { forget(channel, control) }
      resetExpression(channel)
      let home = choices[channel]
      choices[channel] = ProgramChoice(
        bank: home.homeBank, program: home.homeProgram, isRhythm: channel == Self.drumChannel)
    }
    findPrograms()
    resetBendRanges()
    resetTunings()
    offsets.clear(channels: Self.channels)
    volume.move(to: 1, at: time, frame: Int(time &- blockTime), rate: rate)
  }

  /// The bank from controllers 0 and 32. Senders put its number into one or the other (GS, XG), or into both
  /// as 14 bits. Drum channels stay drum channels.
  @_noLocks private func selectedBank(_ channel: Int, _ program: Int) -> Int {
    let home = choices[channel].homeBank
    let (coarse, fine) = (Int(controls[channel &* 128]), Int(controls[channel &* 128 &+ 32]))
    guard home != Self.drums, coarse >= 0 || fine >= 0 else { return home }
    // General MIDI 2's melodic bank has its variations in the lower half.
    let (high, low) = (coarse > 0 && coarse != 121 ? coarse : 0, fine > 0 ? fine : 0)
    if high == 0 { return low }
    let both = high &* 128 &+ low
    return low > 0 && image != nil && image!.pointee.has(bank: both, program: program) ? both : high
  }
}
