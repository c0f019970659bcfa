import Patch
import Sampler

/// Interprets an SFZ instrument: headers, inheritance and opcodes.
///
/// The format as documented by sfzformat.info: SFZ 1 (rgc:audio), and those parts of SFZ 2 and ARIA that
/// `SfzReader+Opcodes.swift` lists.
struct SfzReader {
  private(set) var regions: [SfzRegion] = []
  /// Settings of the `<control>` headers.
  var controls: [Int: Float] = [:]
  var defaultPath = ""
  var noteOffset = 0
  var octaveOffset = 0
  /// Additional offset of key switches.
  var switchOffset: Int { switchNoteOffset + 12 * switchOctaveOffset }
  private var switchNoteOffset = 0
  private var switchOctaveOffset = 0
  var switchDefault: Int?
  private(set) var findings: [Finding]
  /// Opcodes in the order of first use.
  private(set) var opcodes: [OpcodeUse] = []
  private var known: Set<String> = []
  private var places: [String: Int] = [:]
  private var generalNames: [String: String] = [:]
  /// 128 values by number, of the `<curve>` headers.
  private var curves: [Int: [Float]] = [:]
  private var curve: SfzCurve?
  /// All curves below this number are there.
  private var nextCurve = SfzReader.ownCurves
  /// True when regions were left out.
  private var isFull = false
  /// Embedded sound files, by name and by name after the default path.
  private(set) var embedded: [String: [UInt8]] = [:]
  /// The `<effect>` headers.
  var effects = SfzEffects()
  private var embeddedName: String?
  private var embeddedBytes: [UInt8]?

  /// Processes all tokens. Worker.
  init(_ scanner: SfzScanner) {
    findings = scanner.findings
    // Region opcodes under <control> apply to all regions.
    var root = SfzRegion()
    var global = root
    var master = root
    var group = root
    var region = root
    var level = Level.none
    var header = ""
    func close(_ reader: inout Self) {
      if level == .curve { reader.closeCurve() }
      if level == .sample { reader.closeSample() }
      if level == .effect { reader.closeEffect() }
      if level == .region { reader.append(region) }
    }
    for (token, place) in scanner.tokens {
      switch token {
      case .header(let name):
        close(&self)
        header = name
        switch name {
        case "control":
          level = .control
          // As in ARIA, only this setting is reset by a new `<control>` header.
          defaultPath = ""
        case "curve":
          level = .curve
          curve = SfzCurve(line: place)
        case "sample": level = .sample
        case "effect":
          level = .effect
          effects.begin(place)
        case "global":
          level = .global
          global = root
          master = global
          group = global
        case "master":
          level = .master
          master = global
          group = master
        case "group":
          level = .group
          group = master
        case "region":
          level = .region
          region = group
          region.line = place
        default:
          level = .unknown
          notUnderstood("<\(name)>", place, "the header <\(name)> has no effect here")
        }
      case .opcode(let name, let value):
        count(level == .unknown || level == .effect ? "<\(header)> \(name)" : name, place)
        switch level {
        case .control:
          guard !control(name, value, place) else { break }
          apply(name, value, to: &root, place)
          (global, master, group) = (root, root, root)
        case .curve: point(name, value, place)
        case .global:
          apply(name, value, to: &global, place)
          master = global
          group = global
        case .master:
          apply(name, value, to: &master, place)
          group = master
        case .group: apply(name, value, to: &group, place)
        case .region: apply(name, value, to: &region, place)
        case .unknown: ignore("<\(header)> \(name)")
        case .sample:
          if name == "name" {
            embeddedName = value.substituting("\\", with: "/")
          } else if name != "encoding" || value != "base64" {
            notUnderstoodOpcode(name, place)
          }
        case .effect: setEffect(name, value, place)
        case .none: find("`\(name)` stands before the first header; it has no effect", place)
        }
      case .data(let name, let bytes):
        count(name, place)
        embeddedBytes = bytes
        if bytes.isEmpty { find("there is no sound file behind `\(name)=`", place) }
      }
    }
    close(&self)
    for index in regions.indices {
      regions[index].finish(curves: curves)
      if let fault = regions[index].neverSounds { find(fault, regions[index].line) }
    }
  }

  private mutating func append(_ region: SfzRegion) {
    if regions.count < InstrumentBuilder.mostRegions {
      regions.append(region)
    } else if !isFull {
      isFull = true
      find("the instrument has too many regions; those from here on are left out", region.line)
    }
  }

  /// The regions as played, with those that are split into parts.
  var played: some Sequence<RegionSettings> {
    regions.enumerated().lazy.flatMap { number, region in
      var region = region
      region.origin = number
      return region.directions.flatMap(\.parts)
    }
  }

  /// ARIA's predefined curves come first and cannot be replaced; curves without a number follow in order.
  private mutating func closeCurve() {
    guard let curve else { return }
    while curves[nextCurve] != nil { nextCurve += 1 }
    let number = curve.number ?? nextCurve
    if number < Self.ownCurves {
      find(
        "the curves 0 to \(Self.ownCurves - 1) are the format's own; curve_index=\(number) is left out",
        curve.line)
    } else {
      curves[number] = curve.values
    }
  }

  private static let ownCurves = 7

  private mutating func closeSample() {
    defer { (embeddedName, embeddedBytes) = (nil, nil) }
    guard let embeddedName, let embeddedBytes, !embeddedBytes.isEmpty else { return }
    embedded[embeddedName] = embeddedBytes
    if !defaultPath.isEmpty { embedded[defaultPath + embeddedName] = embeddedBytes }
  }

  private mutating func point(_ name: String, _ value: String, _ place: SourceLine) {
    if name == "curve_index" {
      if let number = integer(name, value, 0...255, place) { curve?.number = number }
    } else if let position = Self.number(in: name, after: "v") {
      if let level = real(name, value, -1e4...1e4, place) { curve?.points[position] = Float(level) }
    } else {
      notUnderstoodOpcode(name, place)
    }
  }

  private enum Level {
    case none, control, curve, sample, effect, global, master, group, region, unknown
  }

  // MARK: Findings

  mutating func find(_ message: String, _ place: SourceLine) {
    // One instrument can repeat a fault thousands of times.
    guard findings.count < 1000 else { return }
    findings.append(Finding(.corrected, file: place.file, line: place.line, message))
  }

  mutating func notUnderstood(_ name: String, _ place: SourceLine, _ message: String) {
    guard known.insert(name).inserted else { return }
    findings.append(Finding(.notUnderstood(name), file: place.file, line: place.line, message))
  }

  private mutating func apply(
    _ name: String, _ value: String, to region: inout SfzRegion, _ place: SourceLine
  ) {
    if !set(name, value, in: &region, place) { notUnderstoodOpcode(name, place) }
  }

  private mutating func count(_ name: String, _ place: SourceLine) {
    let general = generalNames[name] ?? Self.generalName(name)
    generalNames[name] = general
    if let index = places[general] {
      opcodes[index].count += 1
    } else {
      places[general] = opcodes.count
      opcodes.append(
        OpcodeUse(name: general, count: 1, isUnderstood: true, file: place.file, line: place.line))
    }
  }

  /// Marks an opcode as without effect, without a finding. Returns its general name.
  @discardableResult
  mutating func ignore(_ name: String) -> String {
    let general = Self.generalName(name)
    if let index = places[general] { opcodes[index].isUnderstood = false }
    return general
  }

  mutating func notUnderstoodOpcode(_ name: String, _ place: SourceLine) {
    let general = ignore(name)
    notUnderstood(general, place, "the opcode `\(general)` has no effect here")
  }

  /// The common name for all numbers of a controller, an envelope, a filter and so on: `pan_oncc10` becomes
  /// `pan_onccN`.
  static func generalName(_ name: String) -> String {
    var result = ""
    var word = ""
    var digits = false
    for character in name {
      if character.isNumber,
        digits
          || [
            "cc", "lfo", "eg", "eq", "curve_", "var", "key", "_v", "_time", "_level", "_shape", "_wave",
            "_offset", "_scale", "_ratio", "_step", "_curve", "rt_decay",
          ].contains(
            where: word.hasSuffix)
          || word == "v"
      {
        if !digits { result += "N" }
        digits = true
      } else {
        digits = false
        result.append(character)
        word.append(character)
      }
    }
    return result
  }

  // MARK: <control>

  /// False for opcodes that do not belong to the header.
  private mutating func control(_ name: String, _ value: String, _ place: SourceLine) -> Bool {
    switch name {
    case "default_path": defaultPath = value.substituting("\\", with: "/")
    case "note_offset": noteOffset = integer(name, value, -127...127, place) ?? noteOffset
    case "octave_offset": octaveOffset = integer(name, value, -10...10, place) ?? octaveOffset
    case "sw_note_offset":
      switchNoteOffset = integer(name, value, -127...127, place) ?? switchNoteOffset
    case "sw_octave_offset":
      switchOctaveOffset = integer(name, value, -10...10, place) ?? switchOctaveOffset
    default:
      if let number = Self.number(in: name, after: "set_cc", last: Source.controllers - 1) {
        if let standing = real(name, value, 0...127, place) { controls[number] = Float(standing) }
      } else if let number = Self.number(in: name, after: "set_hdcc", last: Source.controllers - 1)
        ?? Self.number(in: name, after: "set_realcc", last: Source.controllers - 1)
      {
        if let standing = real(name, value, 0...1, place) { controls[number] = Float(standing * 127) }
      } else {
        return Self.isLabel(name)
      }
    }
    return true
  }

  /// True for labels, which make no sound.
  static func isLabel(_ name: String) -> Bool {
    name.hasSuffix("_label") || name.hasPrefix("label_") || name == "image" || name == "rectangle"
      || name.hasPrefix("hint_")
  }
}

/// An SFZ curve: values at some of 128 positions, with linear interpolation.
struct SfzCurve {
  /// nil: the next free one.
  var number: Int?
  var line: SourceLine
  var points: [Int: Float] = [:]

  var values: [Float] {
    var stated = points
    if stated[0] == nil { stated[0] = 0 }
    if stated[127] == nil { stated[127] = 1 }
    let places = stated.keys.sorted()
    var next = 1
    return (0..<128).map { position in
      while places[next] < position { next += 1 }
      let (low, high) = (places[next - 1], places[next])
      let t = Float(position - low) / Float(high - low)
      return stated[low]! + t * (stated[high]! - stated[low]!)
    }
  }
}
