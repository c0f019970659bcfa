import Glibc

/// How far cables move a parameter.
extension Patch {
  /// The lowest and the highest value to which cables bring a parameter, or its element, in its unit, if each signal goes to
  /// its ends; nil: no cable leads there, or it is not known how far a signal goes.
  public func sweep(
    of node: Node, _ parameter: ParameterDescription, at indices: [Int] = [], wholeNote: Double,
    catalogue: KindCatalogue
  ) -> (low: Value, high: Value)? {
    let path = ParameterPath(parameter.name, indices)
    let port = parameter.glide ?? path.line
    let cables = cables(into: node.id, catalogue: catalogue).filter { $0.ends.destination.port == port }
    guard !cables.isEmpty,
      let value = node.value(at: path, description: catalogue[node.kind]),
      case .number(let own, _) = parameter.timed(value, wholeNote: wholeNote), own.isFinite
    else { return nil }
    var (sum, octaves) = ((low: 0.0, high: 0.0), (low: 0.0, high: 0.0))
    for cable in cables {
      guard let swing = swing(of: cable.ends.source, catalogue: catalogue) else { return nil }
      let depth = depth(of: cable, catalogue: catalogue)
      let gain = Double(EngineValues.gain(decibels: cable.settings.gain))
      let (factor, offset) = (gain * Double(depth?.amount ?? 1), gain * Double(depth?.offset ?? 0))
      let (low, high) = (
        min(swing.low * factor, swing.high * factor) + offset,
        max(swing.low * factor, swing.high * factor) + offset
      )
      if depth?.isRatio == true {
        octaves = (octaves.low + low, octaves.high + high)
      } else {
        sum = (sum.low + low, sum.high + high)
      }
    }
    func end(_ added: Double, _ raised: Double) -> Value {
      guard parameter.unit == .decibels else { return .number((own + added) * exp2(raised), parameter.unit) }
      // A gain is a factor for its cables.
      let factor = (pow(10, own / 20) + added) * exp2(raised)
      return .number(factor > 0 ? 20 * log10(factor) : -.infinity, .decibels)
    }
    return (end(sum.low, octaves.low), end(sum.high, octaves.high))
  }

  /// Ends of an output's signal; nil: they are not known.
  private func swing(of port: PortReference, catalogue: KindCatalogue) -> (low: Double, high: Double)? {
    guard let node = self[port.node], let kind = catalogue[node.kind],
      let output = kind.outputs.first(where: { $0.name == port.port })
    else { return nil }
    switch output.swing {
    case nil: return nil
    case .bipolar: return (-1, 1)
    case .unipolar: return (0, 1)
    case .choice(let name):
      return node.value(at: ParameterPath(name), description: kind) == .text("unipolar") ? (0, 1) : (-1, 1)
    }
  }
}
