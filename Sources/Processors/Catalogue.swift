import Patch

/// Every kind of this module, in the order of the reference.
public let processorKinds: [KindDescription] = [
  Keyboard.description, MidiIn.description, Oscillator.description, Noise.description, Input.description,
  Output.description, Gain.description, Pan.description, Mix.description, Matrix.description,
  Filter.description, Equalizer.description, Distortion.description, Delay.description,
]
