@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Runs libFuzzer on `test` for the time given by its own options. Returns the exit status. The first
/// argument is the kind of input (`fuzzedKind`); libFuzzer's arguments follow.
///
/// Called from a program's `NAME_main`: the package manager renames `main` to that, so libFuzzer's own `main`
/// would not be linked.
public func fuzz(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt {
  // Read `fuzzedKind` before the arguments move: the runtime reads them at first use.
  guard count > 1, !fuzzedKind.isEmpty else { return 2 }
  arguments[1] = arguments[0]
  var (count, arguments) = (count - 1, arguments + 1)
  return runDriver(&count, &arguments, test)
}

/// Kind of input named on the command line.
public let fuzzedKind = CommandLine.arguments.dropFirst().first ?? ""
