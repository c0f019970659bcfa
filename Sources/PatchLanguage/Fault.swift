import Patch

/// An error at a byte of the source. `Fault+Words.swift` has the words for it.
struct Fault: Error {
  var offset: Int
  var reason: Reason

  init(_ offset: Int, _ reason: Reason) {
    self.offset = offset
    self.reason = reason
  }

  enum Reason {
    // MARK: Words, quotes and brackets

    case unopenedBracket
    case unclosedBracket
    case unclosedQuotes
    /// Quotes around a part of a value.
    case quotedPart
    /// `\u` without a code.
    case noCode
    /// Another letter after a backslash.
    case noEscape(String)
    case noList
    case listTooDeep
    /// A marker that a merge left in the file.
    case conflictMarker

    // MARK: Statements

    case noVerb(String)
    /// Nothing stands where an argument should; the argument's noun.
    case missing(String, Verb?)
    /// A word behind the statement's end.
    case surplus(String, Verb)
    /// None of the choice's words.
    case noChoice(String, Choice)

    // MARK: Names

    /// Several elements, of which a cable leads to one.
    case portRange(String)
    case noPort(String)
    /// A node without a parameter.
    case noParameter(String)
    /// Characters that the name of that thing cannot have.
    case invalidName(String, of: String)
    /// An empty or broken index.
    case noIndex
    case notIndex(String, IndexUse)
    case tooManySettings(String)
    /// A range without an end, of a node that does not exist yet.
    case openRange(ParameterRange.Span)

    // MARK: Arguments

    case noMixing(String)
    case noAttribute(String)
    /// A property of a modulation, of a cable without a depth.
    case needsDepth(String)
    case noCurve(String)
    case setTwice(ParameterPath)
    /// No number of that noun.
    case notNumber(String, String)
    case notInRange(String, String, ClosedRange<Int>)
    case noMap
    case noChannel(Value)
    case noPlace(String)
    case commentOfRange
    /// A control of several settings.
    case controlOfRange
    /// The source of a map that is none.
    case noSender(String)
    /// An option that a map does not have.
    case noMapOption(String)
    /// A word that the option of a map does not know.
    case noOptionWord(String, of: MapOption)
    /// Neither a range nor an option.
    case noEnds(String)
    case notKey(String)
    case bendOutOfRange(Double)
    case negativePosition(Double)
    case noMeter(String)
    case noBar(String)
    /// Neither a bar nor a time.
    case noMoment(String)

    // MARK: Files and scripts

    /// `sostenuto 1` further down.
    case lateVersion
    case wrongVersion([String])
    case notInFile(Verb)
    /// A verb that is no edit of a scene.
    case notInScene(Verb)
    case durationInFile
    /// No time after `at`; nil: nothing.
    case noTime(String?)
    case tooLate(String)
    /// An edit that the patch refuses.
    case refused(EditError)
  }

  /// Place of an index that is none.
  enum IndexUse {
    /// Of a setting.
    case setting
    /// Where crosspoints are copied to.
    case span
    /// A row, a column or a diagonal, by that noun.
    case matrix(String)
  }
}
