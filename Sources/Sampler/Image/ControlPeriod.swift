/// Frames between two goals of a voice's moving values, with linear interpolation between.
enum ControlPeriod {
  static var frames: Int { @_noLocks @inline(__always) get { 32 } }
}
