/// A command line that is wrong: exit status 2.
struct UsageError: Error {
  /// The mistake and the way out of it.
  var message: String
  /// The parameter that it is about.
  var parameter: Parameter?
  /// The command whose help tells more; nil: the program's.
  var command: CommandDescription?

  init(_ message: String, about parameter: Parameter? = nil) {
    self.message = message
    self.parameter = parameter
  }

  /// The same error, of a command.
  func of(_ command: CommandDescription) -> UsageError {
    var error = self
    error.command = error.command ?? command
    return error
  }
}

/// An exit status, after everything has been said.
struct ExitCode: Error {
  var status: Int32

  init(_ status: Int32) { self.status = status }
}
