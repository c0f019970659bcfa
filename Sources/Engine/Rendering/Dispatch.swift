import Processors
import Realtime
import Sampler

// One switch per kernel verb. The compiler can check every branch for real-time safety, but not a call
// through a table.

/// Renders one block. Audio thread.
@_noLocks func dispatchProcess(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ block: Block
) -> Activity {
  switch tag {
  case .none: return .silent
  case .keyboard: return kernel.assumingMemoryBound(to: Keyboard.self).pointee.process(block)
  case .midi: return kernel.assumingMemoryBound(to: MidiIn.self).pointee.process(block)
  case .oscillator: return kernel.assumingMemoryBound(to: Oscillator.self).pointee.process(block)
  case .noise: return kernel.assumingMemoryBound(to: Noise.self).pointee.process(block)
  case .input: return kernel.assumingMemoryBound(to: Input.self).pointee.process(block)
  case .output: return kernel.assumingMemoryBound(to: Output.self).pointee.process(block)
  case .gain: return kernel.assumingMemoryBound(to: Gain.self).pointee.process(block)
  case .pan: return kernel.assumingMemoryBound(to: Pan.self).pointee.process(block)
  case .mix: return kernel.assumingMemoryBound(to: Mix.self).pointee.process(block)
  case .matrix: return kernel.assumingMemoryBound(to: Matrix.self).pointee.process(block)
  case .filter: return kernel.assumingMemoryBound(to: Filter.self).pointee.process(block)
  case .equalizer: return kernel.assumingMemoryBound(to: Equalizer.self).pointee.process(block)
  case .distortion: return kernel.assumingMemoryBound(to: Distortion.self).pointee.process(block)
  case .delay: return kernel.assumingMemoryBound(to: Delay.self).pointee.process(block)
  case .sampler: return kernel.assumingMemoryBound(to: Sampler.self).pointee.process(block)
  case .player: return kernel.assumingMemoryBound(to: Player.self).pointee.process(block)
  }
}

/// True when the kernel would stay silent without input. Audio thread.
@_noLocks func dispatchIsFinished(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer
) -> Bool {
  switch tag {
  case .none: return true
  case .keyboard: return kernel.assumingMemoryBound(to: Keyboard.self).pointee.isFinished()
  case .midi: return kernel.assumingMemoryBound(to: MidiIn.self).pointee.isFinished()
  case .oscillator: return kernel.assumingMemoryBound(to: Oscillator.self).pointee.isFinished()
  case .noise: return kernel.assumingMemoryBound(to: Noise.self).pointee.isFinished()
  case .input: return kernel.assumingMemoryBound(to: Input.self).pointee.isFinished()
  case .output: return kernel.assumingMemoryBound(to: Output.self).pointee.isFinished()
  case .gain: return kernel.assumingMemoryBound(to: Gain.self).pointee.isFinished()
  case .pan: return kernel.assumingMemoryBound(to: Pan.self).pointee.isFinished()
  case .mix: return kernel.assumingMemoryBound(to: Mix.self).pointee.isFinished()
  case .matrix: return kernel.assumingMemoryBound(to: Matrix.self).pointee.isFinished()
  case .filter: return kernel.assumingMemoryBound(to: Filter.self).pointee.isFinished()
  case .equalizer: return kernel.assumingMemoryBound(to: Equalizer.self).pointee.isFinished()
  case .distortion: return kernel.assumingMemoryBound(to: Distortion.self).pointee.isFinished()
  case .delay: return kernel.assumingMemoryBound(to: Delay.self).pointee.isFinished()
  case .sampler: return kernel.assumingMemoryBound(to: Sampler.self).pointee.isFinished()
  case .player: return kernel.assumingMemoryBound(to: Player.self).pointee.isFinished()
  }
}

/// Number of sounding voices. Audio thread.
@_noLocks func dispatchVoices(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer
) -> Int {
  switch tag {
  case .none: return 0
  case .keyboard: return kernel.assumingMemoryBound(to: Keyboard.self).pointee.voices
  case .midi: return kernel.assumingMemoryBound(to: MidiIn.self).pointee.voices
  case .oscillator: return kernel.assumingMemoryBound(to: Oscillator.self).pointee.voices
  case .noise: return kernel.assumingMemoryBound(to: Noise.self).pointee.voices
  case .input: return kernel.assumingMemoryBound(to: Input.self).pointee.voices
  case .output: return kernel.assumingMemoryBound(to: Output.self).pointee.voices
  case .gain: return kernel.assumingMemoryBound(to: Gain.self).pointee.voices
  case .pan: return kernel.assumingMemoryBound(to: Pan.self).pointee.voices
  case .mix: return kernel.assumingMemoryBound(to: Mix.self).pointee.voices
  case .matrix: return kernel.assumingMemoryBound(to: Matrix.self).pointee.voices
  case .filter: return kernel.assumingMemoryBound(to: Filter.self).pointee.voices
  case .equalizer: return kernel.assumingMemoryBound(to: Equalizer.self).pointee.voices
  case .distortion: return kernel.assumingMemoryBound(to: Distortion.self).pointee.voices
  case .delay: return kernel.assumingMemoryBound(to: Delay.self).pointee.voices
  case .sampler: return kernel.assumingMemoryBound(to: Sampler.self).pointee.voices
  case .player: return kernel.assumingMemoryBound(to: Player.self).pointee.voices
  }
}

/// Sets a parameter that the kernel smooths itself. Audio thread.
@_noLocks func dispatchSet(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ parameter: Int, _ element: Int, _ value: Float,
  _ frames: Int
) {
  switch tag {
  case .none: return
  case .keyboard:
    kernel.assumingMemoryBound(to: Keyboard.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .midi:
    kernel.assumingMemoryBound(to: MidiIn.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .oscillator:
    kernel.assumingMemoryBound(to: Oscillator.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .noise:
    kernel.assumingMemoryBound(to: Noise.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .input:
    kernel.assumingMemoryBound(to: Input.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .output:
    kernel.assumingMemoryBound(to: Output.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .gain:
    kernel.assumingMemoryBound(to: Gain.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .pan:
    kernel.assumingMemoryBound(to: Pan.self).pointee.set(parameter, element: element, to: value, over: frames)
  case .mix:
    kernel.assumingMemoryBound(to: Mix.self).pointee.set(parameter, element: element, to: value, over: frames)
  case .matrix:
    kernel.assumingMemoryBound(to: Matrix.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .filter:
    kernel.assumingMemoryBound(to: Filter.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .equalizer:
    kernel.assumingMemoryBound(to: Equalizer.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .distortion:
    kernel.assumingMemoryBound(to: Distortion.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .delay:
    kernel.assumingMemoryBound(to: Delay.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .sampler:
    kernel.assumingMemoryBound(to: Sampler.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  case .player:
    kernel.assumingMemoryBound(to: Player.self).pointee.set(
      parameter, element: element, to: value, over: frames)
  }
}

/// Hands over a new instrument or file. Audio thread.
@_noLocks func dispatchUse(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ resource: UnsafeMutablePointer<ResourceHeader>?
) {
  switch tag {
  case .none: return
  case .keyboard: kernel.assumingMemoryBound(to: Keyboard.self).pointee.use(resource)
  case .midi: kernel.assumingMemoryBound(to: MidiIn.self).pointee.use(resource)
  case .oscillator: kernel.assumingMemoryBound(to: Oscillator.self).pointee.use(resource)
  case .noise: kernel.assumingMemoryBound(to: Noise.self).pointee.use(resource)
  case .input: kernel.assumingMemoryBound(to: Input.self).pointee.use(resource)
  case .output: kernel.assumingMemoryBound(to: Output.self).pointee.use(resource)
  case .gain: kernel.assumingMemoryBound(to: Gain.self).pointee.use(resource)
  case .pan: kernel.assumingMemoryBound(to: Pan.self).pointee.use(resource)
  case .mix: kernel.assumingMemoryBound(to: Mix.self).pointee.use(resource)
  case .matrix: kernel.assumingMemoryBound(to: Matrix.self).pointee.use(resource)
  case .filter: kernel.assumingMemoryBound(to: Filter.self).pointee.use(resource)
  case .equalizer: kernel.assumingMemoryBound(to: Equalizer.self).pointee.use(resource)
  case .distortion: kernel.assumingMemoryBound(to: Distortion.self).pointee.use(resource)
  case .delay: kernel.assumingMemoryBound(to: Delay.self).pointee.use(resource)
  case .sampler: kernel.assumingMemoryBound(to: Sampler.self).pointee.use(resource)
  case .player: kernel.assumingMemoryBound(to: Player.self).pointee.use(resource)
  }
}

/// Widens the kernel to more channels. Audio thread.
@_noLocks func dispatchWiden(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ widening: Widening,
  _ memory: UnsafeMutableRawPointer
) {
  switch tag {
  case .none: return
  case .keyboard:
    kernel.assumingMemoryBound(to: Keyboard.self).pointee.widen(widening, memory: memory)
  case .midi:
    kernel.assumingMemoryBound(to: MidiIn.self).pointee.widen(widening, memory: memory)
  case .oscillator:
    kernel.assumingMemoryBound(to: Oscillator.self).pointee.widen(widening, memory: memory)
  case .noise:
    kernel.assumingMemoryBound(to: Noise.self).pointee.widen(widening, memory: memory)
  case .input:
    kernel.assumingMemoryBound(to: Input.self).pointee.widen(widening, memory: memory)
  case .output:
    kernel.assumingMemoryBound(to: Output.self).pointee.widen(widening, memory: memory)
  case .gain:
    kernel.assumingMemoryBound(to: Gain.self).pointee.widen(widening, memory: memory)
  case .pan:
    kernel.assumingMemoryBound(to: Pan.self).pointee.widen(widening, memory: memory)
  case .mix:
    kernel.assumingMemoryBound(to: Mix.self).pointee.widen(widening, memory: memory)
  case .matrix:
    kernel.assumingMemoryBound(to: Matrix.self).pointee.widen(widening, memory: memory)
  case .filter:
    kernel.assumingMemoryBound(to: Filter.self).pointee.widen(widening, memory: memory)
  case .equalizer:
    kernel.assumingMemoryBound(to: Equalizer.self).pointee.widen(widening, memory: memory)
  case .distortion:
    kernel.assumingMemoryBound(to: Distortion.self).pointee.widen(widening, memory: memory)
  case .delay:
    kernel.assumingMemoryBound(to: Delay.self).pointee.widen(widening, memory: memory)
  case .sampler:
    kernel.assumingMemoryBound(to: Sampler.self).pointee.widen(widening, memory: memory)
  case .player:
    kernel.assumingMemoryBound(to: Player.self).pointee.widen(widening, memory: memory)
  }
}
