import Realtime

// Channels of a node. Worker, all of it.

extension EngineNode {
  /// Channels of an audio input.
  func inputPort(_ port: Int) -> PortChannels {
    PortChannels(count: Int(row.counts[port]), width: inputChannels[port])
  }

  /// Channels of an audio output.
  func outputPort(_ port: Int) -> PortChannels {
    PortChannels(count: Int(row.counts[inputs.count + port]), width: outputChannels[port])
  }

  /// Channels that have values of their own: those of its first input, or of its first output.
  private var mainChannels: PortChannels {
    if !inputs.isEmpty { return inputPort(0) }
    return outputs.isEmpty ? .one : outputPort(0)
  }

  /// Values that cables may bring to the parameter at this position: one a channel, or one.
  func parameterChannels(_ parameter: Int) -> PortChannels {
    type?.description.parameters[parameter].isPerChannel == true ? mainChannels : .one
  }

  /// Where its kernel finds how many channels its first input has by the document; nil: it does not ask.
  var countPosition: Int? { type?.followsCount == true ? values.count : nil }

  /// With what the engine adds.
  var parameterCount: Int { values.count + (countPosition == nil ? 0 : 1) }

  /// Its kernel remembers something of each channel.
  var hasMemoryOfChannels: Bool {
    guard let type, inputChannels.first ?? 0 > 1 else { return false }
    var configuration = configuration(rate: 48000)
    let size = type.memorySize(configuration)
    configuration.inputs[0] = 1
    return type.memorySize(configuration) != size
  }

  /// What the elements of a parameter are to go to: those of further channels go with the ones that these
  /// repeat, and what is beyond a list with its last.
  func elements(of parameter: Int) -> [Float] {
    let values = values[parameter]
    guard let last = values.last, type?.description.parameters[parameter].isPerChannel == true else {
      return values
    }
    let channels = mainChannels
    let isGrown = channels.width > channels.count
    var count = max(values.count, sentValues[parameter].count)
    if isGrown, values.count > 1 { count = max(count, channels.width) }
    return (0..<min(count, 64)).map { element in
      let channel = isGrown ? element % channels.count : element
      return channel < values.count ? values[channel] : last
    }
  }

  /// Its kernel has widened: each channel has the values of the one that it goes on from.
  func widenValues(from old: Int, to new: Int) {
    for index in sentValues.indices
    where sentValues[index].count > 1 && type?.description.parameters[index].isPerChannel == true {
      let before = sentValues[index]
      func value(_ channel: Int) -> Float { before[min(channel, before.count - 1)] }
      sentValues[index] = (0..<max(new, before.count)).map { channel in
        let source = channel < new ? Widening.source(of: channel, from: old, to: new) : -1
        return value(source < 0 ? channel : source)
      }
    }
  }
}
