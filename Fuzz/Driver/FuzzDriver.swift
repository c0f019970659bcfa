@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Hands what libFuzzer finds to `test`, until the time that its options give is over. Returns the exit status.
///
/// Called from a program's `NAME_main`: the package manager gives its `main` that name, and libFuzzer's own is not
/// found under it.
public func fuzz(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt {
  var (count, arguments) = (count, arguments)
  return runDriver(&count, &arguments, test)
}
