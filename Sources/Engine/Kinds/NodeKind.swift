import Patch
import Realtime

/// A node kind that an engine can run: its description, and what the worker does with its kernels.
public final class NodeKind: Sendable {
  /// Description for the document and the views.
  public let description: KindDescription
  let tag: KernelTag
  let audioInputs: [PortDescription]
  let audioOutputs: [PortDescription]
  /// Index of the hidden output, the last one, if there is any: it gives the first output
  /// `CableSlot.feedbackDelay` frames ahead of time, for cables that are delayed by as many.
  let aheadOutput: Int?
  /// True if events reach it, by cable or directly as `note`, `play` and the like.
  let takesEvents: Bool
  /// Its kernels hold what a musician recorded, as orders say.
  let isRecorder: Bool
  let followsCount: Bool
  let worksInPlace: Bool
  let passesOn: Bool
  let isEndless: Bool
  let isAffine, isAffineOfOneChannel: Bool
  let factorParameter: Int?
  let addendParameter: Int?
  let factorInput: Int?
  let addendInput: Int?
  /// Functions of a kind that is only known at run time; nil for the program's own.
  let program: ForeignProgram?
  let size: Int
  let alignment: Int
  let memorySize: @Sendable (KernelConfiguration) -> Int
  let memoryFollowsValues: Bool
  let latency: @Sendable (KernelConfiguration) -> Int
  /// True when the hidden output, with these values and at this rate in Hz, has all of the first one.
  let compensatesFeedback: @Sendable ([[Float]], Double) -> Bool
  let initialize: @Sendable (UnsafeMutableRawPointer, KernelConfiguration, UnsafeMutableRawPointer) -> Void
  let retune: @Sendable (UnsafeMutableRawPointer, Double, Double, UnsafeMutableRawPointer?) -> Void
  let release: @Sendable (UnsafeMutableRawPointer) -> Void

  init<K: Kernel>(
    _ tag: KernelTag, _ kernel: K.Type, _ description: KindDescription, program: ForeignProgram? = nil
  ) {
    self.tag = tag
    self.program = program
    self.description = description
    audioInputs = description.inputs.filter { !$0.isEvents }
    let outputs = description.outputs.filter { !$0.isEvents }
    aheadOutput = K.hasAheadOutput ? outputs.count : nil
    audioOutputs = outputs + (K.hasAheadOutput ? [PortDescription("ahead of time", .flexible)] : [])
    takesEvents = description.takesEvents
    isRecorder = description.parameters.contains(where: \.isOrder)
    followsCount = K.followsCount
    worksInPlace = K.worksInPlace
    passesOn = K.passesOn
    isEndless = K.isEndless
    isAffine = K.isAffine
    isAffineOfOneChannel = K.isAffineOfOneChannel
    factorParameter = K.factorParameter
    addendParameter = K.addendParameter
    factorInput = K.factorInput
    addendInput = K.addendInput
    size = MemoryLayout<K>.stride
    alignment = MemoryLayout<K>.alignment
    memorySize = { K.memorySize($0) }
    memoryFollowsValues = K.memoryFollowsValues
    latency = { K.latency($0) }
    compensatesFeedback = { K.compensatesFeedback($0, rate: $1) }
    initialize = { place, configuration, memory in
      place.initializeMemory(as: K.self, to: K(configuration, memory: memory))
    }
    retune = { kernel, old, new, memory in
      kernel.assumingMemoryBound(to: K.self).pointee.retune(from: old, to: new, memory: memory)
    }
    release = { $0.assumingMemoryBound(to: K.self).pointee.release() }
  }

  /// True when the output may exceed the input, or full scale, with these parameter values and no modulation.
  func mayAmplify(_ values: [[Float]]) -> Bool {
    switch description.amplification {
    case .never, .byModulation: false
    case .by(let name): position(of: name).map { values[$0].contains { $0.magnitude > 1 } } ?? true
    case .possible: true
    }
  }

  /// Positions of the parameters by whose modulation the output may exceed the input; nil: any may do that.
  var amplifiers: [Int]? {
    switch description.amplification {
    case .by(let name): [name].compactMap(position)
    case .byModulation(let names): names.compactMap(position)
    case .never, .possible: nil
    }
  }

  private func position(of parameter: String) -> Int? {
    description.parameters.firstIndex { $0.name == parameter }
  }
}
