@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Hands what libFuzzer finds to `test`, until the time that its options give is over. Returns the exit status. The
/// first argument is the kind of input (`fuzzedKind`); libFuzzer's follow it.
///
/// Called from a program's `NAME_main`: the package manager gives its `main` that name, and libFuzzer's own is not
/// found under it.
public func fuzz(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt {
  // Before the arguments, which the runtime reads when it is first asked for them, are moved.
  guard count > 1, !fuzzedKind.isEmpty else { return 2 }
  arguments[1] = arguments[0]
  var (count, arguments) = (count - 1, arguments + 1)
  return runDriver(&count, &arguments, test)
}

/// The kind of input that the command line names.
public let fuzzedKind = CommandLine.arguments.dropFirst().first ?? ""
