import Realtime

/// What the next notes of a channel sound like.
struct ProgramChoice: BitwiseCopyable {
  var bank: Int
  var program: Int
  /// The bank that the node's setting names.
  var homeBank: Int
  /// Its place among the instrument's programs.
  var place = 0

  init(bank: Int, program: Int) {
    self.bank = bank
    self.program = program
    homeBank = bank
  }
}

/// Programs of a bank. All of them are resident, so that a change is a number; what sounds goes on as it is.
extension Sampler {
  private static var drums: Int { @_noLocks get { 128 } }

  /// Finds the chosen programs in the instrument. Audio thread.
  @_noLocks mutating func findPrograms() {
    for channel in 0..<Self.channels { findProgram(channel) }
  }

  @_noLocks private func findProgram(_ channel: Int) {
    let choice = choices + channel
    choice.pointee.place =
      image == nil ? 0 : image!.pointee.select(bank: choice.pointee.bank, program: choice.pointee.program)
  }

  /// A program change, with the bank selected before. Audio thread.
  @_noLocks mutating func change(_ channel: Int, to program: Int) {
    guard followsChanges else { return }
    choices[channel].program = program
    choices[channel].bank = selectedBank(channel, program)
    findProgram(channel)
  }

  /// The bank that controllers 0 and 32 name: senders put its number into the one or the other (GS, XG), or
  /// into both as 14 bits. Drums stay drums.
  @_noLocks private func selectedBank(_ channel: Int, _ program: Int) -> Int {
    let home = choices[channel].homeBank
    let (coarse, fine) = (Int(controls[channel &* 128]), Int(controls[channel &* 128 &+ 32]))
    guard home != Self.drums, coarse >= 0 || fine >= 0 else { return home }
    let (high, low) = (coarse > 0 ? coarse : 0, fine > 0 ? fine : 0)
    if high == 0 { return low }
    let both = high &* 128 &+ low
    return low > 0 && image != nil && image!.pointee.has(bank: both, program: program) ? both : high
  }
}
