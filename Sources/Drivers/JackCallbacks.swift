import CJack
import CThread
import Realtime

// The callbacks of JACK. They are formed here, outside of any actor: a closure formed on the main actor would
// be checked for its actor on JACK's threads, and trap.

/// Sets all callbacks of the client. Call it before activation: PipeWire's JACK accepts them only then.
func setJackCallbacks(of client: OpaquePointer, to state: JackState) {
  let argument = Unmanaged.passUnretained(state).toOpaque()
  // On the audio thread, before it first renders. The server has set its priority.
  jack_set_thread_init_callback(client, { _ in sostenuto_touch_stack() }, nil)
  jack_set_process_callback(client, jackProcess, argument)
  jack_set_buffer_size_callback(
    client,
    { frames, argument in
      if frames > 0 { jackState(argument).period.store(Int(frames), ordering: .relaxed) }
      return 0
    }, argument)
  jack_set_sample_rate_callback(
    client,
    { frames, argument in
      if frames > 0 { jackState(argument).rate.store(Int(frames), ordering: .relaxed) }
      return 0
    }, argument)
  jack_set_xrun_callback(
    client,
    { argument in
      jackState(argument).countXrun()
      return 0
    }, argument)
  jack_set_freewheel_callback(
    client,
    { starting, argument in
      jackState(argument).isFreewheeling.store(starting != 0, ordering: .relaxed)
    }, argument)
  jack_on_info_shutdown(client, { _, reason, argument in jackState(argument).fail(reason) }, argument)
  jack_set_client_registration_callback(
    client,
    { _, isThere, argument in
      if isThere != 0 { jackState(argument).wishes.noteClient(at: nanoseconds()) }
    }, argument)
  jack_set_port_registration_callback(
    client,
    { number, isThere, argument in
      let state = jackState(argument)
      if let name = portName(number, state) {
        state.wishes.lose(name)
        state.wishes.note(port: name, isThere: isThere != 0, at: nanoseconds())
      }
      state.onChange()
    }, argument)
  jack_set_port_connect_callback(
    client,
    { source, target, isMade, argument in
      let state = jackState(argument)
      if isMade != 0 {
        noteConnection(source, target, state)
        noteConnection(target, source, state)
      }
      state.onChange()
    }, argument)
  jack_set_port_rename_callback(
    client,
    { _, old, new, argument in
      guard let old, let new else { return }
      jackState(argument).wishes.renameOther(String(cString: old), to: String(cString: new))
    }, argument)
  jack_set_graph_order_callback(
    client,
    { argument in
      jackState(argument).onChange()
      return 0
    }, argument)
  jack_set_latency_callback(client, { mode, argument in jackState(argument).noteLatencies(mode) }, argument)
}

private func portName(_ number: jack_port_id_t, _ state: JackState) -> String? {
  jack_port_by_id(state.client.raw, number).flatMap { jack_port_name($0) }.map { String(cString: $0) }
}

/// Notes a connection if `ours` is a port of this client.
private func noteConnection(_ ours: jack_port_id_t, _ other: jack_port_id_t, _ state: JackState) {
  guard let port = jack_port_by_id(state.client.raw, ours), jack_port_is_mine(state.client.raw, port) != 0,
    let short = jack_port_short_name(port), let name = portName(other, state)
  else { return }
  state.noteHeard(port)
  state.wishes.note(connection: String(cString: short), to: name, at: nanoseconds())
}

private func jackState(_ argument: UnsafeMutableRawPointer?) -> JackState {
  Unmanaged.fromOpaque(argument!).takeUnretainedValue()
}

/// Audio thread.
@_noLocks private func jackProcess(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let argument else { return 0 }
  Unmanaged<JackState>.fromOpaque(argument)._withUnsafeGuaranteedRef { $0.process(frames) }
  return 0
}
