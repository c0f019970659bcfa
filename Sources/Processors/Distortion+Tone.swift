import Realtime

/// Tone and mix of a distortion, behind its curve.
extension Distortion {
  /// All of it is distorted, and in this block that does not change.
  @inline(__always) @_noLocks mutating func isWet(_ block: Block, _ channel: Int) -> Bool {
    let mix = block.parameters[Self.mix]
    return mix.isSteady && mix.value(channel) >= 100
  }

  /// Applies tone, and mixes with the dry sound. Mostly there is nothing to do.
  @inline(__always) @_noLocks mutating func mixOutput(
    _ block: Block, _ channel: Int, _ row: ToneRow, _ wet: UnsafeMutablePointer<Float>,
    _ dry: UnsafePointer<Float>
  ) {
    let tone = block.parameters[Self.tone]
    if block.frames == blockCapacity, tone.isSteady, tone.value(channel) == 0 {
      row.state.pointee.isFollowed = false
      pass(wet, row)
      if isWet(block, channel), wet == block.outputs[0][channel] { return }
      blend(block, channel, row, wet, dry, isTilted: false)
    } else {
      blend(block, channel, row, wet, dry, isTilted: followTone(block, tone, channel, row, wet))
    }
  }

  @inline(never) @_noLocks private mutating func blend(
    _ block: Block, _ channel: Int, _ row: ToneRow, _ wet: UnsafeMutablePointer<Float>,
    _ dry: UnsafePointer<Float>, isTilted: Bool
  ) {
    let tone = block.parameters[Self.tone]
    let mix = block.parameters[Self.mix]
    let output = block.outputs[0][channel]
    let isWet = isWet(block, channel)
    var frame = 0
    while frame < block.frames {
      var y = wet.vector(frame)
      if isTilted {
        let t = limited(tone.vector(channel, frame), -1, 1)
        let high = powerOfTwo(t)
        let before = row.low.vector(frame)
        let low = before + (y - before) * pole
        y = y * high + low * (powerOfTwo(0 - t) - high)
      }
      if !isWet {
        let m = limited(mix.vector(channel, frame) * 0.01, 0, 1)
        y = dry.vector(frame) * (1 - m) + y * m
      }
      output.store(y + 0, frame)
      frame &+= 16
    }
  }

  /// Advances the low-pass of the tone. False: the tone is 0 throughout the block, and tilts nothing.
  ///
  /// In a 64-frame cell of engine time whose tone is 0 throughout, the low-pass goes from the cell's start to its
  /// end in one step; its input is kept until then. Where the tone begins in mid-cell it catches up frame by frame
  /// from the start, so that its state does not depend on where blocks end.
  @inline(never) @_noLocks private mutating func followTone(
    _ block: Block, _ tone: ParameterStream, _ channel: Int, _ row: ToneRow,
    _ wet: UnsafeMutablePointer<Float>
  ) -> Bool {
    let frames = block.frames
    let start = Int(block.time & 63)
    let state = row.state
    if start == 0 { state.pointee.isFollowed = false }
    if !state.pointee.isFollowed {
      guard !isFlat(tone, channel, frames) else {
        let cell = start == 0 && frames == 64 ? wet : row.cell
        if cell != wet { copyMemory(row.cell + start, wet, frames &* 4) }
        if start &+ frames == 64 { pass(cell, row) }
        return false
      }
      follow(row.cell, row, start)
      state.pointee.isFollowed = true
    }
    follow(wet, row, frames)
    return true
  }

  /// The low-pass passes a cell.
  @inline(__always) @_noLocks private func pass(_ cell: UnsafePointer<Float>, _ row: ToneRow) {
    row.state.pointee.settle(memory.decays[15])
    row.state.pointee.passCell(
      cell.vector(0), cell.vector(16), cell.vector(32), cell.vector(48), decay: decay)
  }

  /// The tone is 0 in every frame.
  @_noLocks private mutating func isFlat(_ tone: ParameterStream, _ channel: Int, _ frames: Int) -> Bool {
    guard let moving = tone.frames(channel) else { return tone.value(channel) == 0 }
    var frame = 0
    while frame &+ 16 <= frames {
      if !areZero(moving.vector(frame)) { return false }
      frame &+= 16
    }
    while frame < frames {
      if moving[frame] != 0 { return false }
      frame &+= 1
    }
    return true
  }

  /// Runs the low-pass over `input`, and stores its state before each frame.
  @_noLocks private mutating func follow(_ input: UnsafeMutablePointer<Float>, _ row: ToneRow, _ frames: Int)
  {
    var state = row.state.pointee.low(memory.decays.vector(0))
    let gain = 2 * pole
    let remains = 1 - gain
    var frame = 0
    while frame < frames {
      row.low[frame] = state
      state = state * remains + input[frame] * gain
      frame &+= 1
    }
    row.state.pointee.setLow(state)
  }
}
