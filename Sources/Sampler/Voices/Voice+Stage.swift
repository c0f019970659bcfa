import Realtime

/// Voices with a `VoiceStage`.
extension Voice {
  /// Writes the next `count` frames into the rows at `place`, as `read` does, and processes them; all within
  /// one control period. Audio thread.
  @_noLocks @inline(never) mutating func readStaged(
    _ context: VoiceContext, _ shape: inout VoiceShape, at place: Int, _ frame: Int, _ count: Int
  ) -> Int {
    let plan = region.pointee.stage
    let left = context.rows + place
    let right = region.pointee.isStereo ? context.rightRows + place : nil
    var ahead = count
    if plan.oscillators > 0 {
      let turn = region.pointee.loopEnd &- region.pointee.loopStart
      let wave = VoiceStage.Wave(plane: region.pointee.left, frames: turn)
      let speed = VoiceStage.Speed(
        turns: shape.ratio / Double(turn), change: shape.ratioStep / Double(turn), factor: context.factor,
        factors: context.factors.map { $0 + frame })
      shape.stage.pointee.oscillate(plan, wave, left, right, frame: Int(shape.frame), count, speed)
    } else {
      ahead = read(context, shape.ratio, shape.ratioStep, Int(shape.frame), at: place, frame, count)
    }
    shape.stage.pointee.process(plan, left, right, frame: Int(shape.frame), ahead)
    return ahead
  }
}
