import Realtime

/// One MIDI 1.0 message as a sequence of events: one for a channel message, any number for a system exclusive
/// one, none for types that no node uses.
///
/// Supported system exclusive messages: General MIDI on; GS and XG reset; drum parts (GS, XG); master volume
/// (universal, GS, XG); master tuning (universal, GS); GS scale tuning; and of the MIDI Tuning Standard the
/// single-note changes, the bulk dump, and octave tunings in both precisions.
///
/// Audio thread, and any other.
public struct MidiMessage {
  /// Maximum length of a message in bytes; longer ones are ignored.
  public static var longest: Int { @_noLocks get { 1024 } }

  private enum Form {
    case none, channel, reset, part, volume, fineTuning, coarseTuning, rolandTuning
    /// `keys`: key number and three bytes of pitch for each. `dump`: three bytes for each of all keys.
    case keys, dump
    /// A byte, or two, for each note of an octave.
    case octave, fineOctave
  }

  /// Contents of a system exclusive message between its first byte and its last, or a whole channel message.
  private let bytes: UnsafePointer<UInt8>
  private let count: Int
  private let offset: Int32
  private var form = Form.none
  /// Number of events, number already returned, and offset of the first one's data.
  private var events = 0
  private var done = 0
  private var data = 0
  private var value: Float = 0
  private var channel: UInt8 = 0
  private var detail: Int32 = 0
  private var firstKey = 0

  /// `count` bytes, of which the first is the status.
  @_noLocks public init(_ bytes: UnsafePointer<UInt8>, count: Int, offset: Int32 = 0) {
    self.offset = offset
    guard count > 1, bytes[0] == 0xF0 else {
      self.bytes = bytes
      self.count = count
      (form, events) = (.channel, 1)
      return
    }
    self.bytes = bytes + 1
    self.count = count &- 2
    if count <= Self.longest, isWhole { find() }
  }

  /// True for a supported message.
  public var isUnderstood: Bool { @_noLocks get { form != .none } }

  /// The next event; nil at the end.
  @_noLocks public mutating func next() -> Event? {
    while done < events {
      let number = done
      done &+= 1
      if let event = event(number) { return event }
    }
    return nil
  }

  // MARK: Parsing

  @_noLocks private mutating func set(_ form: Form, events: Int, data: Int = 0) {
    self.form = form
    self.events = events
    self.data = data
  }

  /// It has its end, and nothing else came in between: what is cut or damaged says nothing.
  private var isWhole: Bool {
    @_noLocks get {
      guard count >= 0, bytes[count] == 0xF7 else { return false }
      var bits: UInt8 = 0
      var index = 0
      while index < count {
        bits |= bytes[index]
        index &+= 1
      }
      return bits < 0x80
    }
  }

  @_noLocks private mutating func find() {
    guard count >= 4 else { return }
    switch bytes[0] {
    case 0x7E, 0x7F: findUniversal(isRealTime: bytes[0] == 0x7F)
    case 0x41: findRoland()
    case 0x43: findYamaha()
    default: break
    }
  }

  @_noLocks private mutating func findUniversal(isRealTime: Bool) {
    channel = isRealTime ? 1 : 0
    switch (bytes[2], bytes[3]) {
    case (0x09, 0x01), (0x09, 0x03):
      if !isRealTime { set(.reset, events: 1) }
    case (0x04, 0x01):
      guard isRealTime, count >= 6 else { return }
      value = Float(Int(bytes[4]) &+ Int(bytes[5]) &* 128) / 16383
      set(.volume, events: 1)
    case (0x04, 0x03):
      if isRealTime, count >= 6 { set(.fineTuning, events: 1, data: 4) }
    case (0x04, 0x04):
      if isRealTime, count >= 6 { set(.coarseTuning, events: 1, data: 5) }
    case (0x08, 0x01):
      if count >= 405 { setTuning(.dump, bank: 0, program: 4, events: 128, data: 21) }
    case (0x08, 0x04):
      if count >= 406 { setTuning(.dump, bank: bytes[4], program: 5, events: 128, data: 22) }
    case (0x08, 0x02):
      guard count >= 6 else { return }
      setTuning(.keys, bank: 0, program: 4, events: Int(bytes[5]), data: 6)
    case (0x08, 0x07):
      guard count >= 7 else { return }
      setTuning(.keys, bank: bytes[4], program: 5, events: Int(bytes[6]), data: 7)
    case (0x08, 0x08), (0x08, 0x09):
      let isFine = bytes[3] == 0x09
      guard count >= (isFine ? 31 : 19) else { return }
      detail = Int32(bytes[6] & 0x7F) | Int32(bytes[5] & 0x7F) << 7 | Int32(bytes[4] & 3) << 14
      set(isFine ? .fineOctave : .octave, events: 12, data: 7)
    default: break
    }
  }

  /// Only tuning bank 0 exists.
  @_noLocks private mutating func setTuning(
    _ form: Form, bank: UInt8, program: Int, events: Int, data: Int
  ) {
    guard bank == 0, form == .dump || count >= data &+ 4 &* events else { return }
    detail = Int32(bytes[program] & 0x7F)
    set(form, events: events, data: data)
  }

  /// GS: `41 device 42 12`, three bytes of address, data, and a checksum that makes the sum of address and
  /// data a multiple of 128.
  @_noLocks private mutating func findRoland() {
    guard count >= 9, bytes[2] == 0x42, bytes[3] == 0x12 else { return }
    var sum = 0
    var index = 4
    while index < count {
      sum &+= Int(bytes[index])
      index &+= 1
    }
    guard sum & 0x7F == 0 else { return }
    let (high, middle, low) = (bytes[4], bytes[5], bytes[6])
    if high & 0x3F == 0, middle == 0, low == 0x7F {
      set(.reset, events: 1)
      return
    }
    guard high == 0x40 else { return }
    if middle == 0, low == 4 {
      value = Float(bytes[7]) / 127
      set(.volume, events: 1)
    } else if middle == 0, low == 0, count >= 12 {
      set(.rolandTuning, events: 1, data: 7)
    } else if middle == 0, low == 5 {
      set(.coarseTuning, events: 1, data: 7)
    } else if middle & 0xF0 == 0x10 {
      // Part 10 comes first, before part 1.
      let block = middle & 0x0F
      let part = block == 0 ? 9 : (block < 10 ? block &- 1 : block)
      if low == 0x15 {
        channel = part
        value = bytes[7] == 0 ? 0 : 1
        set(.part, events: 1)
      } else if low >= 0x40, low < 0x4C {
        channel = 1
        detail = 1 &<< Int32(part)
        firstKey = Int(low) &- 0x40
        let notes = count &- 8 < 12 &- firstKey ? count &- 8 : 12 &- firstKey
        set(.octave, events: notes, data: 7)
      }
    }
  }

  /// XG: `43 1n 4C`, three bytes of address, data.
  @_noLocks private mutating func findYamaha() {
    guard count >= 7, bytes[1] & 0xF0 == 0x10, bytes[2] == 0x4C else { return }
    if bytes[3] == 0, bytes[4] == 0, bytes[5] == 0x7E || bytes[5] == 0x7F {
      set(.reset, events: 1)
    } else if bytes[3] == 0, bytes[4] == 0, bytes[5] == 0x04 {
      value = Float(bytes[6]) / 127
      set(.volume, events: 1)
    } else if bytes[3] == 0x08, bytes[4] < 16, bytes[5] == 0x07 {
      channel = bytes[4]
      value = bytes[6] == 0 ? 0 : 1
      set(.part, events: 1)
    }
  }

  // MARK: Events

  @_noLocks private func event(_ number: Int) -> Event? {
    switch form {
    case .none: return nil
    case .channel: return Event(midi: bytes, count: count, offset: offset)
    case .reset: return Event(.reset, offset: offset)
    case .part: return Event(.rhythm, channel: channel, value: value, offset: offset)
    case .volume: return Event(.masterVolume, value: value, offset: offset)
    case .fineTuning:
      let bend = Int(bytes[data] & 0x7F) &+ Int(bytes[data &+ 1] & 0x7F) &* 128 &- 8192
      return Event(.masterTuning, key: 0, value: Float(bend) * (100 / 8192), offset: offset)
    case .coarseTuning:
      return Event(.masterTuning, key: 1, value: Float(Int(bytes[data]) &- 64) * 100, offset: offset)
    case .rolandTuning:
      var tenths = 0
      for nibble in 0..<4 { tenths = tenths &* 16 &+ Int(bytes[data &+ nibble] & 0x0F) }
      return Event(.masterTuning, key: 0, value: Float(tenths &- 1024) * 0.1, offset: offset)
    case .keys:
      let place = data &+ 4 &* number
      return keyTuning(Int(bytes[place] & 0x7F), place &+ 1)
    case .dump: return keyTuning(number, data &+ 3 &* number)
    case .octave:
      return octaveTuning(firstKey &+ number, Float(Int(bytes[data &+ number] & 0x7F) &- 64))
    case .fineOctave:
      let place = data &+ 2 &* number
      let bend = Int(bytes[place] & 0x7F) &* 128 &+ Int(bytes[place &+ 1] & 0x7F) &- 8192
      return octaveTuning(number, Float(bend) * (100 / 8192))
    }
  }

  /// Semitone and a 14-bit fraction of a semitone; three bytes of 7F mean no change.
  @_noLocks private func keyTuning(_ key: Int, _ place: Int) -> Event? {
    let (semitone, high, low) = (
      bytes[place] & 0x7F, Int(bytes[place &+ 1] & 0x7F), Int(bytes[place &+ 2] & 0x7F)
    )
    if semitone == 0x7F, high == 0x7F, low == 0x7F { return nil }
    return Event(
      .keyTuning, channel: channel, key: UInt8(truncatingIfNeeded: key),
      value: Float(semitone) + Float(high &* 128 &+ low) / 16384, offset: offset, detail: detail)
  }

  @_noLocks private func octaveTuning(_ note: Int, _ cents: Float) -> Event {
    Event(
      .octaveTuning, channel: channel, key: UInt8(truncatingIfNeeded: note), value: cents, offset: offset,
      detail: detail)
  }
}
