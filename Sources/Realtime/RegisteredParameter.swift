/// Data of MIDI's registered parameters: 14 bits, of which the upper seven are the coarse half.
public enum RegisteredParameter {
  /// Range of the pitch wheel: semitones, and cents in the fine half.
  public static var bendRange: Int { @_noLocks get { 0 } }
  /// Fine tuning: 8192 is none, and each half of the way a semitone.
  public static var fineTuning: Int { @_noLocks get { 1 } }
  /// Coarse tuning in semitones: 64 in the coarse half is none.
  public static var coarseTuning: Int { @_noLocks get { 2 } }

  /// Data after a controller: data entry (6, and 38 for the fine half), increment (96) or decrement (97). The coarse half
  /// clears the fine one, as for all pairs of controllers. Audio thread.
  @_noLocks public static func data(
    _ data: Int32, of parameter: Int, after control: Int, _ value: Float
  ) -> Int32 {
    // Parameters that use both halves have fine steps, the others coarse steps.
    let step: Int32 = parameter == bendRange || parameter == fineTuning ? 1 : 128
    var data = data
    switch control {
    case 6: data = Int32(value) &* 128
    case 38: data = (data & ~127) | Int32(value)
    case 96: data &+= step
    default: data &-= step
    }
    // A semitone has a hundred cents.
    if parameter == bendRange, control == 96, data & 127 == 100 { data &+= 28 }
    if parameter == bendRange, control == 97, data & 127 == 127 { data &-= 28 }
    return data > 0 ? (data < 16383 ? data : 16383) : 0
  }

  /// Semitones of a bend range's data. Audio thread.
  @_noLocks public static func semitones(_ data: Int32) -> Float {
    Float(data &>> 7) + Float(data & 127) / 100
  }

  /// Data of a bend range in semitones, to the nearest cent. Audio thread.
  @_noLocks public static func data(semitones: Float) -> Int32 {
    let cents = Int32(semitones * 100 + 0.5)
    return cents / 100 &* 128 &+ cents % 100
  }
}
