import Glibc
import Sampler

extension RegionSettings {
  /// Adds volume, pan and expression except for controllers that the instrument uses itself.
  mutating func addUsualControllers(except used: Set<Int>) {
    func modulation(_ control: Int, _ slot: Int, _ amount: Float, _ curve: Curve) -> ModulationSettings {
      ModulationSettings(
        source: UInt16(control), slot: UInt8(slot), isProduct: slot == Slot.amplitude, amount: amount,
        curve: curve)
    }
    shape.modulations += [
      modulation(7, Slot.amplitude, 1, .square), modulation(10, Slot.pan, 100, .bipolar),
      modulation(11, Slot.amplitude, 1, .square),
    ].filter { !used.contains(Int($0.source)) }
  }

  /// Cents above 8.176 Hz.
  static func cents(_ hertz: Double) -> Float { Float(1200 * log2(max(hertz, 0.01) / 8.1757989156)) }
}
