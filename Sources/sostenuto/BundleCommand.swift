import Session

/// `sostenuto bundle`: collects a patch with its instruments and samples, to be given away.
struct BundleCommand: Command {
  static let table = CommandTable<Self>(
    "bundle", "Collect a patch and all files that it needs into a folder.",
    discussion: """
      Copies instruments with their samples and includes, banks, sound files, tunings and key maps, and makes the \
      patch's paths relative: the folder renders the same bits wherever it is, and can be put into an archive. \
      Nothing is overwritten. What is missing is named, and makes the exit status 1; the rest is bundled all the \
      same.

      Examples:
        sostenuto bundle song.patch
        sostenuto bundle song.patch --output /tmp/song && tar -C /tmp -czf song.tar.gz song
      """,
    [
      .argument("patch", \.patch, completion: .patches, "The patch."),
      .option(
        "output", short: "o", \.output, "folder", completion: .folders,
        "The folder to make (default: the patch's name with .bundle)."),
    ])

  var patch = ""
  var output: String?

  func run() throws {
    let input = try PatchInput.whole(patch)
    let bundle = try PatchBundle(input.patch, file: patch)
    var folder =
      output ?? (bundle.name.hasSuffix(".patch") ? String(bundle.name.dropLast(6)) : bundle.name) + ".bundle"
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    let bytes = try bundle.write(to: folder)
    for note in bundle.notes { Console.warn(note) }
    for fault in bundle.faults { Console.warn(fault) }
    let count = bundle.files.count + 1
    Console.result("\(folder): \(count) file\(count == 1 ? "" : "s"), \(Printout.megabytes(bytes))\n")
    if !bundle.faults.isEmpty { throw ExitCode(1) }
  }
}
