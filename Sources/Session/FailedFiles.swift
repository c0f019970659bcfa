/// A request for files.
protocol FilesRequest: Hashable {
  /// The files that it needs.
  var paths: [String] { get }
}

/// Requests in use that could not be fulfilled, and the versions of their files that have been seen since.
struct FailedFiles<Request: FilesRequest> {
  private var seen: [Request: [String: FileWatch.Seen]] = [:]

  /// Versions of a request's files, to be found before they are read: what changes meanwhile is read again.
  static func versions(of request: Request) -> [String: FileStamp] {
    Dictionary(request.paths.map { ($0, FileStamp(path: $0)) }) { $1 }
  }

  func contains(_ request: Request) -> Bool { seen[request] != nil }

  /// Notes a failure with these versions of its files; nil: it is none.
  mutating func note(_ request: Request, _ versions: [String: FileStamp]?) {
    seen[request] = versions?.mapValues { FileWatch.Seen(known: $0) }
  }

  /// Drops all that are not in `requests`.
  mutating func keep(_ requests: Set<Request>) { seen = seen.filter { requests.contains($0.key) } }

  /// Takes a look, and returns the requests that are to be tried again: those with a file that others have written since, or
  /// `all`.
  mutating func due(all: Bool) -> [Request] {
    var due: [Request] = []
    for (request, files) in seen {
      var isDue = all
      for (path, last) in files {
        let stamp = FileStamp(path: path)
        var last = last
        if last.isDue(stamp) {
          last.settle(stamp)
          isDue = isDue || !stamp.isBlank
        }
        seen[request]?[path] = last
      }
      if isDue { due.append(request) }
    }
    return due
  }
}
