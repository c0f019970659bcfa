import CJack
import Synchronization

// Callbacks of the patchbay's client, formed outside of any actor, as those of `JackCallbacks.swift`.

/// Sets all callbacks. Call it before activation.
func setPatchbayCallbacks(of client: OpaquePointer, to events: PatchbayEvents) {
  let argument = Unmanaged.passUnretained(events).toOpaque()
  events.client.store(UInt(bitPattern: client), ordering: .releasing)
  jack_on_info_shutdown(
    client,
    { _, _, argument in
      JackClients.noteLostServer()
      patchbayEvents(argument).hasFailed.store(true, ordering: .releasing)
      patchbayEvents(argument).onChange()
    }, argument)
  jack_set_port_registration_callback(
    client,
    { number, _, argument in
      let events = patchbayEvents(argument)
      if let name = portName(number, events) { events.note(.port(name)) }
      events.onChange()
    }, argument)
  jack_set_port_connect_callback(
    client,
    { source, target, isMade, argument in
      let events = patchbayEvents(argument)
      if isMade != 0, let source = portName(source, events), let target = portName(target, events) {
        events.note(.connection(ServerGraph.Link(source, target)))
      }
      events.onChange()
    }, argument)
  jack_set_port_rename_callback(
    client,
    { _, old, new, argument in
      for name in [old, new] { if let name { patchbayEvents(argument).note(.port(String(cString: name))) } }
      patchbayEvents(argument).onChange()
    }, argument)
  jack_set_graph_order_callback(
    client,
    { argument in
      patchbayEvents(argument).onChange()
      return 0
    }, argument)
}

private func portName(_ number: jack_port_id_t, _ events: PatchbayEvents) -> String? {
  guard let client = OpaquePointer(bitPattern: events.client.load(ordering: .acquiring)) else { return nil }
  return jack_port_by_id(client, number).flatMap { jack_port_name($0) }.map { String(cString: $0) }
}

private func patchbayEvents(_ argument: UnsafeMutableRawPointer?) -> PatchbayEvents {
  Unmanaged.fromOpaque(argument!).takeUnretainedValue()
}
