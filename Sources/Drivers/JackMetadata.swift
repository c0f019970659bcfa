import CJack
import Dispatch
import Glibc
import Patch
import Synchronization

/// Properties of our client and its ports, for programs that draw JACK's graph.
///
/// JACK keeps them in a database that all clients and all servers of a user share, and a killed server or client leaves
/// its own behind: the next one's ports have the same numbers and would get the names. So they are removed with the
/// ports and when the server is gone; and each subject has a property with the process that wrote the others, by which
/// those of a killed process are found.
///
/// A client that crashed with the database's lock held blocks it. So all calls run on a queue of their own. Each property
/// is first written without a client, and as this client, which notifies other programs, only after that has worked.
/// PipeWire has no database, and knows properties of clients only.
final class JackMetadata: @unchecked Sendable {
  struct Property: Hashable {
    var key: String
    var value: String
    var type = "text/plain"
  }

  private static let base = "http://jackaudio.org/metadata/"
  private static let owner = "urn:sostenuto:process"
  private static let number = "http://www.w3.org/2001/XMLSchema#int"

  private let client: JackPointer
  private let hasDatabase: Bool
  private let queue = DispatchQueue(label: "sostenuto.jack.metadata")
  /// On `queue` alone.
  private var written: [UInt64: [Property]] = [:]
  private let isOver = Atomic<Bool>(false)

  init(client: JackPointer) {
    self.client = client
    hasDatabase = !String(cString: jack_get_version_string()).includes("PipeWire")
    guard hasDatabase else { return }
    queue.async { Self.removeOrphans() }
  }

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

  /// Writes the properties of these subjects, and removes those of all others. `whenWritten` is called on the queue
  /// with what is to be written as a client.
  func update(
    _ wanted: [UInt64: [Property]], as notify: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    queue.async { [self] in
      guard !isOver.load(ordering: .relaxed) else { return }
      for uuid in written.keys where wanted[uuid] == nil { remove(uuid) }
      var changed: [(UInt64, [Property])] = []
      for (uuid, properties) in wanted where written[uuid] != properties {
        written[uuid] = properties
        let all = properties + [Property(key: Self.owner, value: Self.claim(properties))]
        changed.append((uuid, all))
        guard hasDatabase else { continue }
        for property in all { jack_set_property(nil, uuid, property.key, property.value, property.type) }
      }
      guard !changed.isEmpty else { return }
      notify { [client, changed] in
        for (uuid, properties) in changed {
          for property in properties {
            jack_set_property(client.raw, uuid, property.key, property.value, property.type)
          }
        }
      }
    }
  }

  /// Removes all properties. Waits until that is done, but half a second at most.
  func removeAll() {
    let done = DispatchSemaphore(value: 0)
    removeAll(isAlive: true) { done.signal() }
    _ = done.wait(timeout: .now() + 0.5)
  }

  /// Removes all properties in the background, after the server has died.
  func removeAllOfDeadServer() { removeAll(isAlive: false) {} }

  private func removeAll(isAlive: Bool, then: @escaping @Sendable () -> Void) {
    guard !isOver.exchange(true, ordering: .relaxed) else { return then() }
    queue.async { [self] in
      if hasDatabase || isAlive { for uuid in Array(written.keys) { remove(uuid) } }
      then()
    }
  }

  private func remove(_ uuid: UInt64) {
    guard let properties = written.removeValue(forKey: uuid) else { return }
    guard hasDatabase else {
      for property in properties { jack_remove_property(client.raw, uuid, property.key) }
      jack_remove_property(client.raw, uuid, Self.owner)
      return
    }
    // With the port its properties went, and another client's port may have the number by now.
    guard Self.value(uuid, Self.owner) == Self.claim(properties) else { return }
    Self.remove(properties, of: uuid)
  }

  private static func claim(_ properties: [Property]) -> String {
    ([String(getpid())] + properties.map(\.value)).joined(separator: "\n")
  }

  private static func remove(_ properties: [Property], of uuid: UInt64) {
    for property in properties where value(uuid, property.key) == property.value {
      jack_remove_property(nil, uuid, property.key)
    }
    jack_remove_property(nil, uuid, owner)
  }

  private static func value(_ uuid: UInt64, _ key: String) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    var type: UnsafeMutablePointer<CChar>?
    guard jack_get_property(uuid, key, &value, &type) == 0, let value else { return nil }
    defer {
      jack_free(value)
      if let type { jack_free(type) }
    }
    return String(cString: value)
  }

  /// Removes what processes have left that are no more.
  private static func removeOrphans() {
    var list: UnsafeMutablePointer<jack_description_t>?
    let count = jack_get_all_properties(&list)
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
      guard let claim = all.first(where: { $0.key == owner }) else { continue }
      let values = claim.value.split(separator: "\n").map(String.init)
      guard let process = values.first.flatMap({ Int32($0) }), kill(process, 0) != 0, errno == ESRCH else {
        continue
      }
      remove(all.filter { $0.key != owner && values.dropFirst().contains($0.value) }, of: subject)
    }
  }
}
