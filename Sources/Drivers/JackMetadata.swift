import CJack
import Glibc
import Patch

/// Properties of our client and its ports, for programs that draw JACK's graph. On the driver's queue alone.
///
/// JACK keeps them in a database that all clients and all servers of a user share, and a killed server or client leaves
/// its own behind: the next one's ports have the same numbers and would get the names. So they are removed with the
/// ports and when the server is gone; and each subject has a property with the process that wrote the others, by which
/// those of a killed process are found.
final class JackMetadata {
  struct Property: Hashable {
    var key: String
    var value: String
    var type = "text/plain"
  }

  private static let base = "http://jackaudio.org/metadata/"
  private static let owner = "urn:sostenuto:process"
  private static let number = "http://www.w3.org/2001/XMLSchema#int"

  private let client: OpaquePointer
  private var written: [UInt64: [Property]] = [:]
  private var hasCleaned = false

  init(client: OpaquePointer) { self.client = client }

  /// Reads the database. A client that crashed with its lock held blocks all others for ever, so this is called on
  /// another queue before anything is written.
  static func awaitDatabase() { _ = value(0, owner) }

  /// Properties of a port, in their order among those of its node.
  static func port(_ name: String, order: Int) -> [Property] {
    midiPort(name, order: order) + [Property(key: base + "signal-type", value: "AUDIO")]
  }

  /// The same of a MIDI port.
  static func midiPort(_ name: String, order: Int) -> [Property] {
    [
      Property(key: base + "pretty-name", value: name),
      Property(key: base + "order", value: "\(order)", type: number),
    ]
  }

  /// Properties of the client: an icon of the usual themes.
  static let ofClient = [Property(key: base + "icon-name", value: "audio-x-generic")]

  /// JACK's server removes the properties of ports that are unregistered. PipeWire's does not.
  let isCleanedByServer = !String(cString: jack_get_version_string()).includes("PipeWire")

  /// Subjects that `update` writes at once, which are answered within a few milliseconds.
  private static let mostSubjects = 8
  /// Changes that may be under way. The server tells every client of each change, with eight writes to its socket, which
  /// holds 32 such messages; and it blocks for ever if libjack reads no more because the client is being closed.
  private static let mostChanges = 12
  /// Changes that the server has not answered.
  private var underWay = 0
  private var isAnswered = true

  /// Writes the properties of some of these subjects, and removes those of all others. True when all are written. The
  /// server has answered all changes afterwards.
  func update(_ wanted: [UInt64: [Property]]) -> Bool {
    guard JackDatabase.isOpen else { return true }
    if !hasCleaned { removeOrphans() }
    hasCleaned = true
    for uuid in Array(written.keys) where wanted[uuid] == nil { remove(uuid) }
    let due = wanted.filter { written[$0.key] != $0.value }.sorted { $0.key < $1.key }
    for (uuid, properties) in due.prefix(Self.mostSubjects) {
      written[uuid] = properties
      for property in properties + [Property(key: Self.owner, value: Self.claim(properties))] {
        change { _ = jack_set_property(client, uuid, property.key, property.value, property.type) }
      }
    }
    awaitServer()
    return due.count <= Self.mostSubjects
  }

  /// Changes a property.
  private func change(_ body: () -> Void) {
    JackDatabase.exclusively(body)
    underWay += 1
    if underWay == Self.mostChanges { awaitServer() }
  }

  /// Asks the server something that it answers behind all changes under way.
  private func awaitServer() {
    guard underWay > 0 else { return }
    underWay = 0
    guard isAnswered, let number = jack_get_uuid_for_client_name(client, jack_get_client_name(client)) else {
      return
    }
    jack_free(number)
  }

  /// Removes all properties. `answered`: false when the server is gone, which answers nothing.
  func removeAll(answered: Bool = true) {
    isAnswered = answered
    for uuid in Array(written.keys) { remove(uuid) }
    awaitServer()
  }

  private func remove(_ uuid: UInt64) {
    // With the port its properties went, and another client's port may have the number by now.
    guard let properties = written.removeValue(forKey: uuid),
      Self.value(uuid, Self.owner) == Self.claim(properties)
    else { return }
    remove(properties, of: uuid)
  }

  private static func claim(_ properties: [Property]) -> String {
    ([String(getpid())] + properties.map(\.value)).joined(separator: "\n")
  }

  private func remove(_ properties: [Property], of uuid: UInt64) {
    for property in properties where Self.value(uuid, property.key) == property.value {
      remove(property.key, of: uuid)
    }
    remove(Self.owner, of: uuid)
  }

  private func remove(_ key: String, of uuid: UInt64) {
    change { _ = jack_remove_property(client, uuid, key) }
  }

  /// Value of a subject's property; nil without one.
  static func value(_ uuid: UInt64, _ key: String) -> String? {
    guard JackDatabase.isOpen else { return nil }
    var value: UnsafeMutablePointer<CChar>?
    var type: UnsafeMutablePointer<CChar>?
    let error = JackDatabase.exclusively { jack_get_property(uuid, key, &value, &type) }
    guard error == 0, let value else { return nil }
    defer {
      jack_free(value)
      if let type { jack_free(type) }
    }
    return String(cString: value)
  }

  /// Removes what processes have left that are no more.
  private func removeOrphans() {
    var list: UnsafeMutablePointer<jack_description_t>?
    let count = JackDatabase.exclusively { jack_get_all_properties(&list) }
    guard let list else { return }
    defer { jack_free(list) }
    for index in 0..<max(0, Int(count)) {
      let description = list[index]
      let all = (0..<Int(description.property_cnt)).compactMap { number -> Property? in
        let property = description.properties[number]
        guard let key = property.key, let data = property.data else { return nil }
        return Property(key: String(cString: key), value: String(cString: data))
      }
      let subject = description.subject
      jack_free_description(list + index, 0)
      guard let claim = all.first(where: { $0.key == Self.owner }) else { continue }
      let values = claim.value.split(separator: "\n").map(String.init)
      guard let process = values.first.flatMap({ Int32($0) }), kill(process, 0) != 0, errno == ESRCH else {
        continue
      }
      remove(all.filter { $0.key != Self.owner && values.dropFirst().contains($0.value) }, of: subject)
    }
  }
}
