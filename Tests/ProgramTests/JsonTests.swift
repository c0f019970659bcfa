import Foundation
import Testing

@Suite struct JsonTests {
  private struct Row {
    var types: Set<String>
    var isAlways: Bool
  }

  /// Rows of docs/json.md by member; `…` stands for both kinds of port.
  private func documented() throws -> [String: Row] {
    let text = try String(contentsOfFile: Program.repository + "/docs/json.md", encoding: .utf8)
    var rows: [String: Row] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      let types = cells[2].replacingOccurrences(of: " or ", with: ", ").components(separatedBy: ", ")
      for name in cells[1].components(separatedBy: ", ") {
        let name = name.trimmingCharacters(in: CharacterSet(charactersIn: "`"))
        let names =
          name.hasPrefix("…")
          ? ["nodes[].inputs[]", "nodes[].outputs[]"].map { $0 + name.dropFirst() } : [name]
        for name in names { rows[name] = Row(types: Set(types), isAlways: cells[3] == "always") }
      }
    }
    return rows
  }

  private func type(of value: Any) -> String {
    switch value {
    case is NSNull: "null"
    case is String: "string"
    case let number as NSNumber: ["c", "B"].contains(String(cString: number.objCType)) ? "bool" : "number"
    case is [Any]: "array"
    default: "object"
    }
  }

  /// Collects each member's types by its path, and checks which members each object has.
  private func walk(
    _ value: Any, _ path: String, _ types: inout [String: Set<String>], _ faults: inout [String],
    _ rows: [String: Row]
  ) {
    if let list = value as? [Any] {
      // An array is documented by its elements, unless it is one of several types of a value.
      if rows[path] != nil { types[path, default: []].insert("array") }
      for element in list { walk(element, path + "[]", &types, &faults, rows) }
      return
    }
    if !path.isEmpty { types[path, default: []].insert(type(of: value)) }
    guard let members = value as? [String: Any] else { return }
    let prefix = path.isEmpty ? "" : path + "."
    for (name, row) in rows where row.isAlways && name.hasPrefix(prefix) {
      let rest = name.dropFirst(prefix.count)
      if !rest.contains("."), !rest.contains("["), members[String(rest)] == nil {
        faults.append("\(name) is not there")
      }
    }
    for (name, member) in members { walk(member, prefix + name, &types, &faults, rows) }
  }

  @Test func theJsonOfAPatchIsAsItIsDocumented() throws {
    let rows = try documented()
    #expect(rows.count > 90)
    let folder = try Folder()
    _ = try folder.file("i.sfz", "<region> sample=*sine\n")
    let own = try folder.file(
      "a.patch",
      """
      sostenuto 1
      # head

      # slow
      tempo 90  # felt
      meter 3/4
      # The left hand's.
      control 2 m[0,1]  # softly
      control 8 off  # free
      # The knob on the left.
      map k.cc74 -> g.gain -20dB..0dB curve=linear mode=absolute takeover=soft echo=e  # stiff
      map k.bend -> o.freq
      # its own
      node o oscillator freq=[110Hz,220Hz] channels=2  # low
      # of a line of its own
      set o.level -6dB # here
      node g gain
      node d distortion oversample=2
      node s sampler instrument=i.sfz
      node p player file=gone.wav
      node w wobbler depth=3
      node k keyboard
      node e midiout
      node m matrix
      node q gain
      node n oscillator
      node out output channels=12
      connect o -> q
      connect q -> out
      # why
      connect o -> g map=[1,0] gain=-inf  # after
      connect o -> d mix=discrete
      connect d -> m
      connect g -> m
      connect s -> m
      connect m -> g
      connect q -> g.gain by 6dB offset=-3dB curve=log
      connect q -> n.freq by -100Hz
      connect n -> m
      set m[0,1] -6dB  # see
      connect m -> out
      # box
      layout m 3,1  # there
      # of it
      scene 1 "loud"  # late
      scene 1 set g.gain 3dB
      # foot
      """)
    let shipped = [
      "basics/11-feedback", "basics/02-mono-to-both-sides", "basics/13-two-instruments",
      "basics/03-stereo-to-outputs-3-and-4",
    ]
    .map {
      Program.repository + "/Patches/\($0).patch"
    }
    var types: [String: Set<String>] = [:]
    for path in [own] + shipped {
      let outcome = try Program.run("print", "--json", path)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      var faults: [String] = []
      walk(object, "", &types, &faults, rows)
      #expect(faults == [], "\(path)")
    }
    for (path, seen) in types.sorted(by: { $0.key < $1.key }) {
      guard let row = rows[path] else {
        Issue.record("\(path) is not documented")
        continue
      }
      // A list is documented by its elements.
      #expect(seen.subtracting(row.types).isEmpty, "\(path) is \(seen), not \(row.types)")
    }
    // These members cannot occur in a file that was just opened; PatchbayCommandTests has clients of a server.
    let elsewhere = [
      "clients[]", "connections[]", "secondsLeft", "loading", "fault", "lackingChannels", "isUnheard",
      ".card",
    ]
    for path in rows.keys.sorted()
    where types[path] == nil && !elsewhere.contains(where: { path.contains($0) }) {
      Issue.record("\(path) is documented and was never seen")
    }
  }

  @Test func theJsonOfAPatchSaysWhatTheFileSays() throws {
    let folder = try Folder()
    _ = try folder.file("i.sfz", "<region> sample=*sine\n")
    let path = try folder.file(
      "a.patch",
      "sostenuto 1\n# head\n\n# why\nnode s sampler instrument=i.sfz tune=-3  # end\nnode m matrix\nset m[0,1] -6dB\nnode out output\nconnect s -> m gain=-3dB  # loud\n"
    )
    let output = try Program.run("print", "--json", path).output
    let object = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    #expect(object["schema"] as? String == "sostenuto graph" && object["version"] as? Int == 1)
    #expect(object["header"] as? [String] == ["head"])
    let nodes = try #require(object["nodes"] as? [[String: Any]])
    let sampler = try #require(nodes.first { $0["name"] as? String == "s" })
    #expect((sampler["comments"] as? [String: Any])?["before"] as? [String] == ["why"])
    #expect((sampler["comments"] as? [String: Any])?["after"] as? String == "end")
    let file = try #require((sampler["files"] as? [[String: Any]])?.first)
    #expect(file["path"] as? String == "i.sfz" && file["found"] as? String == folder.path + "/i.sfz")
    #expect(file["exists"] as? Bool == true)
    let parameters = try #require(sampler["parameters"] as? [[String: Any]])
    let tune = try #require(parameters.first { $0["name"] as? String == "tune" })
    #expect(
      tune["value"] as? Double == -3 && tune["unit"] as? String == "cents"
        && tune["text"] as? String == "-3cents")
    #expect(tune["isDefault"] as? Bool == false)
    #expect(parameters.filter { $0["isDefault"] as? Bool == true }.count > 3)
    let matrix = try #require(nodes.first { $0["name"] as? String == "m" })
    let crosspoint = (matrix["parameters"] as? [[String: Any]])?.first { $0["name"] as? String == "" }
    #expect(crosspoint?["indices"] as? [Int] == [0, 1] && crosspoint?["value"] as? Double == -6)
    let cable = ((matrix["inputs"] as? [[String: Any]])?.first?["cables"] as? [[String: Any]])?.first
    #expect(cable?["decibels"] as? Double == -3)
    #expect((cable?["comments"] as? [String: Any])?["after"] as? String == "loud")
  }
}
