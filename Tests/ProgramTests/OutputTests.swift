import Foundation
import Testing

@Suite struct OutputTests {
  /// No output file may overwrite an input file, by its own name or by a link.
  @Test func nothingThatIsReadIsOverwritten() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path + "/sub", withIntermediateDirectories: true)
    let tone = "sostenuto 1\nnode t oscillator\nnode out output\nconnect t -> out\n"
    let first = try folder.file("first.patch", tone)
    #expect(
      try Program.run("render", first, "--seconds", "0.1", "-o", folder.path + "/sub/s.wav").status == 0)
    try FileManager.default.copyItem(atPath: folder.path + "/sub/s.wav", toPath: folder.path + "/sub/p.wav")
    _ = try folder.file("i.sfz", "#include \"more.txt\"\n<region> sample=sub/S.WAV\n")
    _ = try folder.file("more.txt", "<control>\n")
    let patch = try folder.file(
      "a.patch",
      tone
        + "node s sampler instrument=i.sfz\nnode p player file=sub/p.wav\nconnect s -> out\nconnect p -> out\n"
    )
    let script = try folder.file("a.script", "at 0.01s set t.level -20dB\n")
    let midi = try folder.file("a.mid", "MThd")
    let inputs =
      [patch, script, midi] + ["i.sfz", "more.txt", "sub/s.wav", "sub/p.wav"].map { folder.path + "/" + $0 }
    let before = try inputs.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    var count = 0
    for (number, input) in inputs.enumerated() {
      let wav = input.hasSuffix(".wav")
      let symbolic = folder.path + "/symbolic\(number).wav"
      let hard = folder.path + "/hard\(number).wav"
      try FileManager.default.createSymbolicLink(atPath: symbolic, withDestinationPath: input)
      #expect(link(input, hard) == 0)
      let roundabout =
        (input as NSString).deletingLastPathComponent + "/./" + (input as NSString).lastPathComponent
      for output in [input, roundabout, symbolic, hard] {
        for option in [
          ["--output", output], ["--output", "x.wav", "--tap", "t=\(output)"],
          ["--output", "x.wav", "--edits", output],
        ] {
          var arguments = ["render", patch, "--seconds", "0.1", "--script", script] + option
          if input == midi { arguments += ["--midi", midi] }
          let outcome = try Program.run(arguments, in: folder.path)
          #expect(outcome.status == 2, "\(arguments) \(outcome.errors)")
          let isNamed =
            outcome.errors.contains("would be overwritten")
            || !wav && outcome.errors.contains("cannot write .")
          #expect(isNamed, "\(outcome.errors)")
          count += 1
        }
      }
      let live = try Program.run(
        [
          "play", patch, "--headless", "--seconds", "0.1", "--driver", "clock", "--script", script, "--edits",
          symbolic,
        ],
        in: folder.path)
      #expect(live.status == (input == midi ? 0 : 2), "\(live.errors)")
    }
    #expect(count == 84)
    for (input, bytes) in zip(inputs, before) where input != midi {
      #expect(try Data(contentsOf: URL(fileURLWithPath: input)) == bytes, "\(input)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/x.wav"))
  }

  @Test func twoOutputsAreTwoFiles() throws {
    let folder = try Folder()
    _ = try folder.file("a.patch", "sostenuto 1\nnode t oscillator\nnode out output\nconnect t -> out\n")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/l.wav", withDestinationPath: "x.wav")
    for other in ["x.wav", "./x.wav", "l.wav"] {
      let outcome = try Program.run(
        ["render", "a.patch", "--seconds", "0.1", "-o", "x.wav", "--tap", "t=\(other)"], in: folder.path)
      #expect(outcome.status == 2 && outcome.errors.contains("the same file"), "\(outcome.errors)")
    }
    let fine = try Program.run(
      [
        "render", "a.patch", "--seconds", "0.1", "-o", "x.wav", "--tap", "t=y.FLAC", "--tap", "out=/dev/null",
      ],
      in: folder.path)
    #expect(fine.status == 0 || fine.errors.contains("no audio output"), "\(fine.errors)")
  }

  /// A result that is not whole is none; a reader that has enough is no error.
  @Test func aFullStandardOutputIsAnError() throws {
    let folder = try Folder()
    _ = try folder.file("a.patch", "sostenuto 1\nnode t oscillator\n")
    func run(_ line: String) throws -> Program.Outcome {
      try Program.run(tool: "/bin/sh", ["-c", "'\(Program.path)' \(line)"], in: folder.path)
    }
    for command in ["format a.patch", "kinds", "kinds gain --json"] {
      let outcome = try run("\(command) > /dev/full")
      #expect(outcome.status == 1, "\(command)")
      #expect(outcome.errors.hasSuffix("sostenuto: standard output: No space left on device\n"))
    }
    let closed = try run("format a.patch >&-")
    #expect(closed.status == 0 && closed.errors.isEmpty, "\(closed.errors)")
  }

  /// A limit of file sizes is told as a full disk is; the signal that comes with it would end the program.
  @Test func aFileAtItsLargestSizeIsAnError() throws {
    let folder = try Folder()
    _ = try folder.file("a.patch", "sostenuto 1\nnode t oscillator\nnode out output\nconnect t -> out\n")
    for seconds in ["0.5", "3"] {
      let outcome = try Program.run(
        tool: "/bin/sh",
        ["-c", "ulimit -f 8; '\(Program.path)' render a.patch --seconds \(seconds) -o o.wav"],
        in: folder.path)
      #expect(outcome.status == 1, "\(outcome.errors)")
      #expect(outcome.errors.contains("o.wav"), "\(outcome.errors)")
    }
    // Room for a name and for no byte: nothing stays behind.
    let none = try Program.run(
      tool: "/bin/sh",
      ["-c", "ulimit -f 0; exec '\(Program.path)' render a.patch --seconds 1 -o o.wav 2>&-"],
      in: folder.path)
    #expect(none.status == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.patch"])
  }

  /// A program that is started without standard streams does not take its own pipes for them.
  @Test(arguments: [">&- 2>&-", "<&- >&- 2>&-", "<&-", "2>&-"])
  func withoutStandardStreamsItPlaysToItsEnd(closed: String) throws {
    let command = "play Patches/basics/01-tone.patch --driver clock --headless --seconds 0.3"
    let outcome = try Program.run(
      tool: "/bin/sh", ["-c", "timeout -k 1 60 '\(Program.path)' \(command) \(closed)"])
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func whatAFormatCannotHoldIsSaid() throws {
    let folder = try Folder()
    _ = try folder.file(
      "a.patch", "sostenuto 1\nnode t oscillator\nnode out output channels=64\nconnect t -> out\n")
    let render = ["render", "a.patch", "--seconds", "0.1", "-o"]
    let wide = try Program.run(render + ["x.flac"], in: folder.path)
    #expect(wide.status == 1 && wide.errors.contains("FLAC has at most 8 channels, not 64"), "\(wide.errors)")
    let rate = try Program.run(render + ["x.opus", "--rate", "44100"], in: folder.path)
    #expect(rate.status == 1 && rate.errors.contains("Opus does not have 44100 Hz"), "\(rate.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.patch"])
  }

  @Test func aDashIsNoNameOfAnOutput() throws {
    let folder = try Folder()
    _ = try folder.file("a.patch", "sostenuto 1\nnode t oscillator\nnode out output\nconnect t -> out\n")
    for option in [["-o", "-"], ["--tap", "t=-"], ["-o", "x.wav", "--edits", "-"]] {
      let outcome = try Program.run(["render", "a.patch", "--seconds", "0.1"] + option, in: folder.path)
      #expect(outcome.status == 2 && outcome.errors.contains("give its name"), "\(outcome.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.patch"])
  }

  @Test func aFormatThatIsNotWrittenIsRefused() throws {
    let folder = try Folder()
    _ = try folder.file("a.patch", "sostenuto 1\nnode t oscillator\nnode out output\nconnect t -> out\n")
    for name in ["x.mp3", "x.aiff", "x.wav.mp3", "x.MP3", "x.w"] {
      for option in [["-o", name], ["-o", "x.wav", "--tap", "t=\(name)"]] {
        let outcome = try Program.run(["render", "a.patch", "--seconds", "0.1"] + option, in: folder.path)
        #expect(outcome.status == 2, "\(name)")
        #expect(outcome.errors.contains("there are .wav, .flac, .ogg"), "\(outcome.errors)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.patch"])
    for name in ["x.wav", "x.FLAC", "x.ogg", "plain", "/dev/null"] {
      let outcome = try Program.run(["render", "a.patch", "--seconds", "0.1", "-o", name], in: folder.path)
      #expect(outcome.status == 0, "\(name): \(outcome.errors)")
    }
  }
}
