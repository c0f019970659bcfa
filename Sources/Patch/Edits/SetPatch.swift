/// `tempo 97.5`, `meter 3/4`, `transport lead`, `control 1 dist.drive`, `map in.cc74 -> filter.freq 200Hz..8kHz`
struct SetPatch: EditVerbs {
  var setting: PatchSetting

  func apply(to draft: inout Draft) throws(EditError) {
    switch setting {
    case .tempo(let tempo) where !PatchSetting.tempos.contains(tempo): throw .tempoOutOfRange(tempo)
    case .meter(let meter) where !meter.isLegal: throw .meterOutOfRange(meter)
    case .publish(let name, _):
      if let fault = NodeName.fault(in: name) { throw .invalidName(name, fault) }
    case .control(let number, _) where !ControlTarget.numbers.contains(number): throw .noControl(number)
    default: break
    }
    switch setting {
    case .control, .publish: break
    default: draft.isSilent = false
    }
    draft.patch.settings.set(setting)
  }

  func inverse(in draft: Draft) -> Edit {
    let old = Edit.setPatch(draft.patch.settings[setting.name])
    guard setting.isGone, let comments = draft.patch.settings.comments[setting.name] else { return old }
    return .joined([old, .comment(.patchSetting(setting.name), comments)])
  }

  func describe() -> String { setting.line }
}
