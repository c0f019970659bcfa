/// `tempo 97.5`, `meter 3/4`, `transport lead`
struct SetTime: EditVerbs {
  var setting: TimeSetting

  func apply(to draft: inout Draft) throws(EditError) {
    switch setting {
    case .tempo(let tempo) where !TimeSetting.tempos.contains(tempo): throw .tempoOutOfRange(tempo)
    case .meter(let meter) where !meter.isLegal: throw .meterOutOfRange(meter)
    default: draft.patch.time.set(setting)
    }
    draft.isSilent = false
  }

  func inverse(in draft: Draft) -> Edit { .time(draft.patch.time[setting.name]) }

  func describe() -> String { setting.line }
}
