import Glibc
import Patch

extension TimeOfDay {
  /// The present time in the system's time zone.
  static var now: TimeOfDay {
    var seconds = time(nil)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return TimeOfDay(hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
  }
}
