import Patch
import Processors
import Realtime
import Sampler

/// Kernel type of a slot, by its number in the switch below.
struct KernelTag: Sendable, Equatable {
  let number: UInt8

  static let placeholder = KernelTag(number: 0)
  /// Kinds that are only known at run time.
  static let foreign = KernelTag(number: 255)

  /// Calls `verb` with the kernel type of the tag. The numbers of the program's own kinds count from 1, in the
  /// order of the reference.
  ///
  /// Not marked `@_noLocks`, since it serves the worker too. The audio thread's entry points below are marked,
  /// and through them the compiler checks the methods of every kind; it could not check a call through a
  /// table.
  @inline(__always) func apply<V: KernelVerb>(_ verb: V) -> V.Result {
    switch number {
    case 1: verb(Keyboard.self)
    case 2: verb(MidiIn.self)
    case 3: verb(Oscillator.self)
    case 4: verb(Noise.self)
    case 5: verb(Input.self)
    case 6: verb(Output.self)
    case 7: verb(Gain.self)
    case 8: verb(Pan.self)
    case 9: verb(Mix.self)
    case 10: verb(Matrix.self)
    case 11: verb(Filter.self)
    case 12: verb(Equalizer.self)
    case 13: verb(Distortion.self)
    case 14: verb(Delay.self)
    case 15: verb(Sampler.self)
    case 16: verb(Player.self)
    case 17: verb(Ringmod.self)
    case 18: verb(MidiOut.self)
    case 19: verb(Client.self)
    case 20: verb(Record.self)
    case 21: verb(TransportSource.self)
    case 22: verb(Compressor.self)
    case 23: verb(Gate.self)
    case 24: verb(Limiter.self)
    case 25: verb(Reverb.self)
    case 26: verb(Chorus.self)
    case 27: verb(Flanger.self)
    case 28: verb(Phaser.self)
    case 29: verb(Constant.self)
    case 30: verb(Lfo.self)
    case 31: verb(Add.self)
    case 32: verb(Multiply.self)
    case 33: verb(Fader.self)
    case 40: verb(Wavetable.self)
    case 41: verb(Fm.self)
    case 42: verb(PluckedString.self)
    case 43: verb(Supersaw.self)
    case 44: verb(Additive.self)
    case 45: verb(Modal.self)
    case 46: verb(Drum.self)
    case 47: verb(Chaos.self)
    case 48: verb(Dust.self)
    case 49: verb(Granular.self)
    case 60: verb(Ladder.self)
    case 61: verb(Svf.self)
    case 62: verb(Crossover.self)
    case 63: verb(Freqshift.self)
    case 64: verb(Bitcrusher.self)
    case 65: verb(Waveshaper.self)
    case 66: verb(Expander.self)
    case 67: verb(Transient.self)
    case 68: verb(Convolution.self)
    case 69: verb(Exciter.self)
    case 70: verb(Echo.self)
    case 71: verb(Pitchshift.self)
    case 72: verb(Looper.self)
    case 90: verb(Envelope.self)
    case 91: verb(Slew.self)
    case 92: verb(Samplehold.self)
    case 93: verb(Follower.self)
    case 94: verb(Comparator.self)
    case 95: verb(Logic.self)
    case 96: verb(Random.self)
    case 97: verb(Clock.self)
    case 98: verb(Divider.self)
    case 99: verb(Euclid.self)
    case 100: verb(Quantizer.self)
    case 101: verb(Sequencer.self)
    case 102: verb(Arpeggiator.self)
    case 103: verb(Chord.self)
    case 104: verb(ScaleNotes.self)
    case 105: verb(Velocity.self)
    case 106: verb(Expr.self)
    case 107: verb(Meter.self)
    case 108: verb(Scope.self)
    case 109: verb(Spectrum.self)
    case 110: verb(Loudness.self)
    case 111: verb(Pitchfollower.self)
    case 112: verb(Tuner.self)
    case 130: verb(Voices.self)
    case 131: verb(Mixdown.self)
    case 240: verb(SubPatch.self)
    case 241: verb(SoundIn.self)
    case 242: verb(SoundOut.self)
    case 243: verb(EventIn.self)
    case 244: verb(EventOut.self)
    case 255: verb(ForeignKernel.self)
    default: verb(Placeholder.self)
    }
  }
}

/// An operation on a kernel of any type.
protocol KernelVerb {
  associatedtype Result

  func callAsFunction<K: Kernel>(_ type: K.Type) -> Result
}

/// Kernel of a node whose kind is unknown: silent.
struct Placeholder: Kernel {
  static var description: Void { () }

  init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks func process(_ block: Block) -> Activity { .silent }
  @_noLocks func isFinished() -> Bool { true }
}

// MARK: Audio thread

/// A kernel of any type, by its address. `process` has the calling convention of a kernel's own `process` (the address as
/// self, then the block), so that the compiler turns the call into a jump.
struct AnyKernel {
  private var start: UInt8

  /// Renders one block. Audio thread.
  @inline(never) @_noLocks mutating func process(_ block: Block, _ tag: KernelTag) -> Activity {
    let kernel = withUnsafeMutablePointer(to: &self) { UnsafeMutableRawPointer($0) }
    return tag.apply(Process(kernel: kernel, block: block))
  }
}

private struct Process: KernelVerb {
  let kernel: UnsafeMutableRawPointer
  let block: Block

  @inline(__always) func callAsFunction<K: Kernel>(_ type: K.Type) -> Activity {
    kernel.assumingMemoryBound(to: K.self).pointee.process(block)
  }
}

/// Writes the factors and addends of a kernel at rest that has nothing else. Audio thread.
@_noLocks func dispatchAffine(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ block: Block,
  _ channels: UnsafeMutablePointer<Affine>
) -> Bool {
  tag.apply(WriteAffine(kernel: kernel, block: block, channels: channels))
}

private struct WriteAffine: KernelVerb {
  let kernel: UnsafeMutableRawPointer
  let block: Block
  let channels: UnsafeMutablePointer<Affine>

  @inline(__always) func callAsFunction<K: Kernel>(_ type: K.Type) -> Bool {
    kernel.assumingMemoryBound(to: K.self).pointee.affine(block, channels)
  }
}

/// True when the kernel would stay silent without input. Audio thread.
@_noLocks func dispatchIsFinished(_ tag: KernelTag, _ kernel: UnsafeMutableRawPointer) -> Bool {
  tag.apply(IsFinished(kernel: kernel))
}

private struct IsFinished: KernelVerb {
  let kernel: UnsafeMutableRawPointer

  @inline(__always) func callAsFunction<K: Kernel>(_ type: K.Type) -> Bool {
    kernel.assumingMemoryBound(to: K.self).pointee.isFinished()
  }
}

/// Number of sounding voices. Audio thread.
@_noLocks func dispatchVoices(_ tag: KernelTag, _ kernel: UnsafeMutableRawPointer) -> Int {
  tag.apply(VoiceCount(kernel: kernel))
}

private struct VoiceCount: KernelVerb {
  let kernel: UnsafeMutableRawPointer

  @inline(__always) func callAsFunction<K: Kernel>(_ type: K.Type) -> Int {
    kernel.assumingMemoryBound(to: K.self).pointee.voices
  }
}

/// A figure of the kind's report. Audio thread.
@_noLocks func dispatchReading(_ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ position: Int) -> Float
{
  tag.apply(Reading(kernel: kernel, position: position))
}

private struct Reading: KernelVerb {
  let kernel: UnsafeMutableRawPointer
  let position: Int

  @inline(__always) func callAsFunction<K: Kernel>(_ type: K.Type) -> Float {
    kernel.assumingMemoryBound(to: K.self).pointee.reading(position)
  }
}

/// Sets a parameter that the kernel smooths itself. Audio thread.
@_noLocks func dispatchSet(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ parameter: Int, _ element: Int, _ value: Float,
  _ frames: Int
) {
  tag.apply(
    SetParameter(kernel: kernel, parameter: parameter, element: element, value: value, frames: frames))
}

private struct SetParameter: KernelVerb {
  let kernel: UnsafeMutableRawPointer
  let parameter: Int
  let element: Int
  let value: Float
  let frames: Int

  @inline(__always) func callAsFunction<K: Kernel>(_ type: K.Type) {
    kernel.assumingMemoryBound(to: K.self).pointee.set(parameter, element: element, to: value, over: frames)
  }
}

/// Hands over a new instrument or file. Audio thread.
@_noLocks func dispatchUse(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ resource: UnsafeMutablePointer<ResourceHeader>?
) {
  tag.apply(Use(kernel: kernel, resource: resource))
}

private struct Use: KernelVerb {
  let kernel: UnsafeMutableRawPointer
  let resource: UnsafeMutablePointer<ResourceHeader>?

  @inline(__always) func callAsFunction<K: Kernel>(_ type: K.Type) {
    kernel.assumingMemoryBound(to: K.self).pointee.use(resource)
  }
}

/// Widens the kernel to more channels. Audio thread.
@_noLocks func dispatchWiden(
  _ tag: KernelTag, _ kernel: UnsafeMutableRawPointer, _ widening: Widening,
  _ memory: UnsafeMutableRawPointer
) {
  tag.apply(Widen(kernel: kernel, widening: widening, memory: memory))
}

private struct Widen: KernelVerb {
  let kernel: UnsafeMutableRawPointer
  let widening: Widening
  let memory: UnsafeMutableRawPointer

  @inline(__always) func callAsFunction<K: Kernel>(_ type: K.Type) {
    kernel.assumingMemoryBound(to: K.self).pointee.widen(widening, memory: memory)
  }
}
