import PatchLanguage
import Realtime

extension Event {
  /// An event of the language in the form of event ports.
  init(_ event: Performance.Event) {
    switch event {
    case .noteOn(let key, let velocity): self.init(.noteOn, key: UInt8(key), value: Float(velocity))
    case .noteOff(let key): self.init(.noteOff, key: UInt8(key))
    case .pedal(let pedal, let isDown):
      let controller: UInt8 =
        switch pedal {
        case .sustain: 64
        case .sostenuto: 66
        case .soft: 67
        }
      self.init(.control, key: controller, value: isDown ? 127 : 0)
    case .control(let number, let value): self.init(.control, key: UInt8(number), value: Float(value))
    case .bend(let value): self.init(.bend, value: Float(value))
    case .play(let position): self.init(.play, time: position ?? .nan)
    case .stop: self.init(Event.Kind.stop)
    case .cue(let position): self.init(.cue, time: position)
    }
  }
}
