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

  /// Channels for per-channel parameters: those of the first input, or else of the first output.
  var mainChannels: PortChannels {
    if !inputs.isEmpty { return inputPort(0) }
    return outputs.isEmpty ? .one : outputPort(0)
  }

  /// Number of values that cables may drive at this parameter: one per channel, or one.
  func parameterChannels(_ parameter: Int) -> PortChannels {
    type?.description.parameters[parameter].isPerChannel == true ? mainChannels : .one
  }

  /// Position of the hidden parameter that tells its kernel the document's channel count; nil: the kernel
  /// does not ask.
  var countPosition: Int? { type?.followsCount == true ? values.count : nil }

  /// Its outputs do not have the channels of its inputs, which it adds up.
  var foldsInputs: Bool {
    countPosition == nil && !outputs.isEmpty && !outputs.contains { $0.format == .flexible }
  }

  /// True when a new channel may sound at once, without any sound that comes in.
  var maySoundAlone: Bool {
    switch type?.description.category {
    case .effect, .mixing, nil: false
    case .source, .control, .modulation, .endpoint: true
    }
  }

  /// Parameters, including the hidden one.
  var parameterCount: Int { values.count + (countPosition == nil ? 0 : 1) }

  /// True when its kernel keeps state per channel.
  var hasMemoryOfChannels: Bool {
    guard let type, inputChannels.first ?? 0 > 1 else { return false }
    var configuration = configuration(rate: 48000)
    let size = type.memorySize(configuration)
    configuration.inputs[0] = 1
    return type.memorySize(configuration) != size
  }

  /// Targets of a parameter's elements. Extra channels repeat the values of the channels that they repeat;
  /// channels beyond a list take its last value.
  func elements(of parameter: Int) -> [Float] {
    elements(marked(values[parameter], parameter), of: parameter)
  }

  /// The same with NaN for each length of a note.
  func marked(_ values: [Float], _ parameter: Int) -> [Float] {
    guard let lengths = noteLengths[parameter] else { return values }
    return values.indices.map { lengths[min($0, lengths.count - 1)] == nil ? values[$0] : .nan }
  }

  /// Lengths of notes of a parameter's elements; nil: an element is none.
  func lengths(of parameter: Int) -> [Double?] {
    elements(noteLengths[parameter] ?? [nil], of: parameter)
  }

  private func elements<Element>(_ values: [Element], of parameter: Int) -> [Element] {
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

  /// Widens the values sent so far: each channel takes the value of the channel that it continues.
  func widenValues(from old: Int, to new: Int) {
    for index in sentValues.indices
    where sentValues[index].count > 1 && type?.description.parameters[index].isPerChannel == true {
      let before = sentValues[index]
      func value(_ channel: Int) -> Float { before[min(channel, before.count - 1)] }
      sentValues[index] = (0..<max(new, before.count)).map { channel in
        let source =
          channel < new
          ? Widening.source(of: channel, from: old, to: new, isDiscrete: hasDiscreteChannels) : -1
        return value(source < 0 ? channel : source)
      }
    }
  }
}
