import CKind
import Patch
import Realtime
import Synchronization

// Kinds that are only known at run time, as the worker sees them.

/// The functions of such a kind.
final class ForeignProgram: @unchecked Sendable {
  // Written before it is shared, and constant from then on.
  let functions: UnsafeMutablePointer<sostenuto_kind>

  init(_ functions: sostenuto_kind) {
    self.functions = .allocate(capacity: 1)
    self.functions.initialize(to: functions)
  }

  deinit { functions.deallocate() }

  /// Makes an instance. May take long; on any thread.
  func prepare(
    _ configuration: KernelConfiguration, state: String, _ preparation: Preparation
  ) -> Result<ForeignInstance, KindError> {
    let inputs = configuration.inputs.map { Int32($0) }
    let outputs = configuration.outputs.map { Int32($0) }
    let values = configuration.values.map { $0.first ?? 0 }
    let room = 512
    var fault = [CChar](repeating: 0, count: room)
    let instance = state.withCString { text in
      var setup = sostenuto_setup()
      setup.rate = configuration.rate
      setup.input_count = Int32(inputs.count)
      setup.output_count = Int32(outputs.count)
      setup.parameter_count = Int32(values.count)
      setup.state = state.isEmpty ? nil : text
      setup.listener = Unmanaged.passUnretained(preparation).toOpaque()
      setup.progress = { listener, fraction in
        guard let listener else { return true }
        let preparation = Unmanaged<Preparation>.fromOpaque(listener).takeUnretainedValue()
        return preparation.show(fraction)
      }
      return inputs.withUnsafeBufferPointer { inputs in
        outputs.withUnsafeBufferPointer { outputs in
          values.withUnsafeBufferPointer { values in
            setup.inputs = inputs.baseAddress
            setup.outputs = outputs.baseAddress
            setup.values = values.baseAddress
            return functions.pointee.prepare(functions.pointee.context, &setup, &fault, room)
          }
        }
      }
    }
    if let instance { return .success(ForeignInstance(self, instance, rate: configuration.rate)) }
    let bytes = fault.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let reason = String(decoding: bytes, as: UTF8.self)
    return .failure(.preparation(reason.isEmpty ? "cannot be prepared" : reason))
  }
}

/// A prepared instance of one node. The last reference is given up by the worker, after the audio thread has
/// stopped using it.
final class ForeignInstance: @unchecked Sendable {
  // `handle` is constant, and the functions behind it say which threads may call them.
  private let program: ForeignProgram
  private let handle: UnsafeMutablePointer<ForeignHandle>
  private var rate: Double

  init(_ program: ForeignProgram, _ instance: UnsafeMutableRawPointer, rate: Double) {
    self.program = program
    self.rate = rate
    handle = .allocate(capacity: 1)
    handle.initialize(
      to: ForeignHandle(
        header: ResourceHeader(type: 3), functions: UnsafePointer(program.functions), instance: instance))
  }

  deinit {
    program.functions.pointee.release(handle.pointee.instance)
    handle.deallocate()
  }

  /// The part that the audio thread sees.
  var header: UnsafeMutablePointer<ResourceHeader> {
    UnsafeMutableRawPointer(handle).assumingMemoryBound(to: ResourceHeader.self)
  }

  /// Latency in frames. Worker.
  var latency: Int32 { max(0, program.functions.pointee.latency?(handle.pointee.instance) ?? 0) }

  /// Saved state as text; nil: the kind saves none. Worker.
  func save() -> String? {
    guard let save = program.functions.pointee.save else { return nil }
    var room = 4096
    var text = [CChar](repeating: 0, count: room)
    let length = save(handle.pointee.instance, &text, room)
    if length >= room {
      room = length + 1
      text = [CChar](repeating: 0, count: room)
      _ = save(handle.pointee.instance, &text, room)
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Follows a new rate in Hz, while no audio thread runs it. Worker.
  func retune(to newRate: Double) {
    guard newRate != rate else { return }
    program.functions.pointee.retune?(handle.pointee.instance, rate, newRate)
    rate = newRate
  }
}

/// Preparation of an instance, under way on a thread of its own.
final class Preparation: Sendable {
  private let fraction = Atomic<UInt32>(0)
  private let isWanted = Atomic<Bool>(true)
  private let outcome = Mutex<Result<ForeignInstance, KindError>?>(nil)

  /// Progress, 0...1. Worker.
  var progress: Double { Double(Float(bitPattern: fraction.load(ordering: .relaxed))) }

  /// Notes the progress; false: nobody waits for the instance.
  func show(_ progress: Float) -> Bool {
    fraction.store(min(max(progress, 0), 1).bitPattern, ordering: .relaxed)
    return isWanted.load(ordering: .relaxed)
  }

  func finish(_ result: Result<ForeignInstance, KindError>) { outcome.withLock { $0 = result } }

  /// The result, once. Worker.
  func collect() -> Result<ForeignInstance, KindError>? {
    outcome.withLock { outcome in
      defer { outcome = nil }
      return outcome
    }
  }

  /// The node is gone. Worker.
  func cancel() { isWanted.store(false, ordering: .relaxed) }
}
