import Testing

/// Checks a law on a random sequence of steps. If it fails, records the smallest subsequence that still
/// breaks it, and the seed.
///
/// `breaks` gets any subsequence of the steps, in order. It returns how the law is broken, or nil. Steps that
/// are not legal without earlier ones must be skipped by it.
public func expectLaw(
  _ law: String, seed: UInt64, _ steps: [Step], sourceLocation: SourceLocation = #_sourceLocation,
  breaks: ([Step]) throws -> String?
) rethrows {
  guard let reason = try breaks(steps) else { return }
  let (smallest, last) = try shrink(steps, reason: reason, breaks: breaks)
  Issue.record(
    """
    \(law): broken by seed \(seed), \(steps.count) steps: \(reason)
    the smallest part that breaks it (\(smallest.count) steps): \(last)
    \(smallest.map(\.description).joined(separator: "\n"))
    """, sourceLocation: sourceLocation)
}

/// Removes ever smaller parts while the rest still breaks the law (A. Zeller and R. Hildebrandt, "Simplifying
/// and isolating failure-inducing input", 2002). `mostTries` bounds the work.
public func shrink(
  _ steps: [Step], reason: String, mostTries: Int = 3000, breaks: ([Step]) throws -> String?
) rethrows -> (steps: [Step], reason: String) {
  var steps = steps
  var reason = reason
  var size = max(steps.count / 2, 1)
  var tries = 0
  while tries < mostTries {
    var isSmaller = false
    var start = 0
    while start < steps.count, tries < mostTries {
      var rest = steps
      // The next step keeps its time.
      let gone = rest[start..<min(start + size, rest.count)].reduce(0) { $0 + $1.frames }
      rest.removeSubrange(start..<min(start + size, rest.count))
      if start < rest.count { rest[start].frames += gone }
      tries += 1
      if let found = try breaks(rest) {
        steps = rest
        reason = found
        isSmaller = true
      } else {
        start += size
      }
    }
    if size == 1, !isSmaller { break }
    if !isSmaller || size > steps.count { size = max(size / 2, 1) }
  }
  return (steps, reason)
}
