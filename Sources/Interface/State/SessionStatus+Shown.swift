import Session

extension SessionStatus {
  /// As far as the screen shows it: whole per cents of the load, whole seconds of a song, no seconds of the transport, and
  /// nothing of a transport that is not used.
  var shown: SessionStatus {
    var shown = self
    shown.transport.seconds = 0
    if !transport.isUsed { shown.transport = TransportStatus() }
    shown.load = (load * 100).rounded(.down)
    shown.peakLoad = (peakLoad * 100).rounded(.down)
    if let seconds = song?.seconds { shown.song?.seconds = seconds.rounded(.down) }
    return shown
  }
}
