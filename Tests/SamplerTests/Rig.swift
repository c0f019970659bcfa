import Glibc
import Patch
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Runs one kernel as a renderer would: blocks of at most 64 frames, within multiples of 64 frames of engine
/// time, split further by `step`.
final class Rig<K: Kernel> {
  var kernel: K
  let rate: Double
  private(set) var time: Int64 = 0
  /// Names of the outputs read in addition to the first, and their sound in the last run.
  var read: Set<String> = []
  private(set) var heard: [String: [[Float]]] = [:]
  private let memory: UnsafeMutableRawPointer
  private let scratch = UnsafeMutableRawPointer.allocate(byteCount: BlockContext.scratchSize, alignment: 64)
  private let names: [String]
  private let output: UnsafeMutablePointer<Float>
  private let ports: UnsafeMutablePointer<OutputPort>
  private let values: UnsafeMutablePointer<Float>
  private let streamMemory: UnsafeMutablePointer<Float>
  private let parameters: UnsafeMutablePointer<ParameterStream>
  private let count: Int
  private var queue = EventQueue()
  private var kept: [Resource] = []
  /// Parameter values by index and time, for parameters that move.
  var streams: [Int: (Int64) -> Float] = [:]

  init(
    _ description: KindDescription, rate: Double = 48000, channels: Int = 2, values: [Int: Float] = [:],
    quality: SampleQuality = .four
  ) {
    self.rate = rate
    names = description.outputs.map(\.name)
    let widths = description.outputs.map {
      if case .channels(let count) = $0.format { count } else { channels }
    }
    count = description.parameters.count
    var all = [[Float]](repeating: [0], count: count)
    for (index, parameter) in description.parameters.enumerated() {
      if case .number(let number, let unit) = parameter.defaultValue {
        all[index] = [unit == .decibels ? powf(10, Float(number) / 20) : Float(number)]
      }
      if case .text("on") = parameter.defaultValue { all[index] = [1] }
      if let value = values[index] { all[index] = [value] }
    }
    let configuration = KernelConfiguration(
      rate: rate, inputs: [], outputs: widths, values: all, quality: quality)
    let size = max(64, K.memorySize(configuration))
    memory = .allocate(byteCount: size, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    kernel = K(configuration, memory: memory)
    let room = 64 * widths.reduce(0, +)
    output = .allocate(capacity: room)
    output.initialize(repeating: .nan, count: room)
    ports = .allocate(capacity: widths.count)
    for (index, width) in widths.enumerated() {
      let base = output + 64 * widths[..<index].reduce(0, +)
      (ports + index).initialize(to: OutputPort(base: base, count: width))
    }
    self.values = .allocate(capacity: count)
    streamMemory = .allocate(capacity: 64 * count)
    streamMemory.initialize(repeating: 0, count: 64 * count)
    parameters = .allocate(capacity: count)
    for index in 0..<count {
      self.values[index] = all[index][0]
      parameters[index] = ParameterStream(
        values: UnsafePointer(self.values + index), stream: nil, elements: 1)
    }
  }

  deinit {
    memory.deallocate()
    scratch.deallocate()
    output.deallocate()
    ports.deallocate()
    values.deallocate()
    streamMemory.deallocate()
    parameters.deallocate()
    queue.deallocate()
  }

  /// Gives the kernel a resource, which lives as long as the rig. For SFZ instruments the volume controller
  /// is set to 127 instead of the initial 100, so that levels are those of the opcodes.
  func use(_ resource: Resource?, asLoaded: Bool = false) {
    if let resource { kept.append(resource) }
    kernel.use(resource?.header)
    guard let sampler = kernel as? Sampler, let image = sampler.image else { return }
    guard !asLoaded, !image.pointee.regions[0].isLogarithmic else { return }
    for channel in 0..<16 { sampler.controls[channel * 128 + 7] = 127 }
  }

  func setParameter(_ index: Int, _ value: Float) { values[index] = value }

  /// Renders `frames`; events are at absolute times. `step` returns the next block's length (at most 64).
  func run(
    _ frames: Int, _ events: [(Int, Event)] = [], step: () -> Int = { 64 }
  ) -> [[Float]] {
    let indices = names.indices.filter { $0 == 0 || read.contains(names[$0]) }
    for index in names.indices { ports[index].isRead = indices.contains(index) }
    var results = indices.map { [[Float]](repeating: [], count: ports[$0].count) }
    var done = 0
    var pending = events[...]
    while done < frames {
      let toCell = 64 - Int(time % 64)
      let length = min(frames - done, toCell, max(1, step()))
      queue.removeAll()
      while let (at, event) = pending.first, at < Int(time) + length {
        var event = event
        event.offset = Int32(max(0, at - Int(time)))
        queue.append(event)
        pending.removeFirst()
      }
      for (index, function) in streams {
        for frame in 0..<length { streamMemory[64 * index + frame] = function(time + Int64(frame)) }
        values[index] = streamMemory[64 * index]
        parameters[index].stream = UnsafePointer(streamMemory + 64 * index)
      }
      let activity = withUnsafePointer(to: queue) { queue in
        let driver = UnsafeMutablePointer<DriverChannels>.allocate(capacity: 1)
        defer { driver.deallocate() }
        let context = BlockContext(
          frames: length, time: time, rate: Float(rate), driver: UnsafePointer(driver), scratch: scratch)
        let surroundings = NodeContext(
          inputs: UnsafePointer(bitPattern: 64)!, outputs: UnsafePointer(ports),
          parameters: UnsafePointer(parameters), crossfades: UnsafePointer(bitPattern: 64)!, events: queue,
          eventOutput: nil)
        return withUnsafePointer(to: context) { context in
          withUnsafePointer(to: surroundings) { kernel.process(Block(context, $0)) }
        }
      }
      for (place, index) in indices.enumerated() {
        for channel in 0..<ports[index].count {
          for frame in 0..<length {
            results[place][channel].append(activity == .silent ? 0 : ports[index][channel][frame])
          }
        }
      }
      time += Int64(length)
      done += length
    }
    heard = Dictionary(uniqueKeysWithValues: zip(indices.map { names[$0] }, results))
    return results[0]
  }
}

extension Event {
  static func on(_ key: UInt8, _ velocity: Float = 127) -> Event { Event(.noteOn, key: key, value: velocity) }
  static func off(_ key: UInt8) -> Event { Event(.noteOff, key: key) }
  static func control(_ number: UInt8, _ value: Float) -> Event { Event(.control, key: number, value: value) }
}

/// A temporary folder, removed at the end of the test.
final class Folder {
  let path: String
  init() {
    var template = Array("/tmp/sampler-tests-XXXXXX".utf8CString)
    path = String(cString: mkdtemp(&template)) + "/"
  }
  deinit { removeAll(path) }

  private func removeAll(_ path: String) {
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      if unlink(path + name) != 0 { removeAll(path + name + "/") }
    }
    closedir(directory)
    rmdir(path)
  }

  func makeFolder(_ name: String) { mkdir(path + name, 0o755) }

  @discardableResult func write(_ name: String, _ bytes: [UInt8]) -> String {
    let file = fopen(path + name, "w")!
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
    return path + name
  }

  @discardableResult func write(_ name: String, _ text: String) -> String { write(name, Array(text.utf8)) }

  func read(_ name: String) -> [UInt8]? {
    guard let file = fopen(path + name, "r") else { return nil }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: ftell(file))
    rewind(file)
    return fread(&bytes, 1, bytes.count, file) == bytes.count ? bytes : nil
  }

  /// Writes a WAV file of 32-bit floats; planes of equal length. `loop` (end inclusive) and `key` go into a
  /// `smpl` chunk.
  @discardableResult func wav(
    _ name: String, _ planes: [[Float]], rate: UInt32 = 48000, loop: ClosedRange<Int>? = nil, key: Int? = nil
  ) -> String {
    func u32(_ value: Int) -> [UInt8] {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian) { Array($0) }
    }
    func u16(_ value: Int) -> [UInt8] {
      withUnsafeBytes(of: UInt16(truncatingIfNeeded: value).littleEndian) { Array($0) }
    }
    var data: [UInt8] = []
    for frame in planes[0].indices {
      for plane in planes { data += u32(Int(plane[frame].bitPattern)) }
    }
    let channels = planes.count
    var body = Array("WAVEfmt ".utf8) + u32(16) + u16(3) + u16(channels) + u32(Int(rate))
    body += u32(Int(rate) * 4 * channels) + u16(4 * channels) + u16(32)
    if loop != nil || key != nil {
      body += Array("smpl".utf8) + u32(loop == nil ? 36 : 60)
      body +=
        u32(0) + u32(0) + u32(0) + u32(key ?? 60) + u32(0) + u32(0) + u32(0) + u32(loop == nil ? 0 : 1)
        + u32(0)
      if let loop { body += u32(0) + u32(0) + u32(loop.lowerBound) + u32(loop.upperBound) + u32(0) + u32(0) }
    }
    body += Array("data".utf8) + u32(data.count) + data
    return write(name, Array("RIFF".utf8) + u32(body.count) + body)
  }
}

extension Folder {
  /// A sampler with an instrument of these opcodes. In its folder are a constant of 0.5 (`one.wav`) and a 1
  /// kHz sine (`sine.wav`).
  func rig(_ global: String, _ opcodes: String, findings: Int) throws -> Rig<Sampler> {
    wav("one.wav", [[Float](repeating: 0.5, count: 4000)])
    wav("sine.wav", [sine(4800, period: 48)])
    let (resource, report) = try InstrumentLoader.load(path: write("a.sfz", global + "\n" + opcodes))
    #expect(report.findings.count == findings, "\(report.findings)")
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    return rig
  }
}

func near(_ value: Float, _ expected: Double, _ tolerance: Double = 1e-3) -> Bool {
  abs(Double(value) - expected) < tolerance
}

/// Noise in -1...1, the same for each seed.
func noise(_ count: Int, seed: UInt64 = 1) -> [Float] {
  var random = SeededGenerator(seed: seed)
  return (0..<count).map { _ in Float.random(in: -1...1, using: &random) }
}

func sine(_ count: Int, period: Double, amplitude: Double = 0.5) -> [Float] {
  (0..<count).map { Float(amplitude * sin(2 * .pi * Double($0) / period)) }
}
