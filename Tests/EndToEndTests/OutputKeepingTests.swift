// Retention of the output files of commands: old files are removed and reported, and files in use stay.
import Foundation
import Glibc
import Testing

@Suite("Retention of output", .serialized)
struct OutputKeepingTests {
  private static func configuration(keeping span: String) -> String {
    """
    {"services": {"long": {"run": ["sh", "{payload}"], "windows": 2, "max_result_bytes": 16}},
     "windows": {"deposit": 1, "loan": 0, "juice": 0}, "output_retention": "\(span)"}
    """
  }

  /// Sets the modification time of a file into the past.
  private func age(_ path: String, hours: Int = 2) {
    let then = timeval(tv_sec: time(nil) - 3_600 * hours, tv_usec: 0)
    #expect(utimes(path, [then, then]) == 0, "\(path)")
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test("output older than the setting is removed and reported, and no running command loses its file")
  func removed() throws {
    try withScratchBank { branch in
      let file = try branch.write(Self.configuration(keeping: "0s"), to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      let quick = try branch.write("seq 1000; seq 1000 >&2", to: "quick.sh")
      let go = branch.path("go")
      let slow = try branch.write(
        "seq 1000; while ! [ -e \(go) ]; do sleep 0.01; done; echo end", to: "slow.sh")
      try branch.runSuccessfully("enqueue", "2", "--service", "long", "--payload", quick, "--wait")
      try branch.runSuccessfully("enqueue", "--service", "long", "--payload", slow)
      let files = ["1.out", "1.err", "2.out", "3.out"].map { "\(branch.home)/output/1/\($0)" }
      try branch.waitUntil("the long command has written its output") {
        try branch.runSuccessfully("output", "3").out.hasSuffix("\n1000\n")
      }
      for file in files { #expect(isThere(file), "\(file)") }
      // Files with other names are not touched.
      let other = "\(branch.home)/output/1/notes.txt"
      #expect(FileManager.default.createFile(atPath: other, contents: Data("x".utf8)))
      for file in [files[0], files[1], files[3], other] { age(file) }
      for name in ["2.out", "2.err"] { age("\(branch.home)/output/1/\(name)", hours: -2) }
      #expect(
        try branch.runSuccessfully("output", "1").out.hasSuffix("\n1000\n"),
        "the default keeps output for ever")

      // The end must be longer ago than the setting: output of a later end may not be removed.
      let ended = ContinuousClock.now
      try branch.waitUntil("the first command ended longer ago than the setting") {
        ContinuousClock.now - ended > .milliseconds(1_100)
      }
      try Self.configuration(keeping: "1s").write(toFile: file, atomically: true, encoding: .utf8)
      try branch.runSuccessfully("reload")
      let told = try branch.events("output_removed", in: "coordinator", count: 1)
      #expect(told.first?["files"] == "2" && told.first?["output_retention"] == "1s", "\(told)")
      #expect(files.map(isThere) == [false, false, true, true] && isThere(other))
      for (language, arguments) in [
        (OutputLanguage.en, "output_retention"), (.ko, "output_retention에 정한 기간"),
      ] {
        let gone = try branch.run("output", "1", language: language)
        #expect(gone.code == 4 && gone.out == "" && gone.err.contains(arguments), gone.story)
      }
      #expect(try branch.run("output", "1", "--stderr").code == 4)
      #expect(try branch.launch(["output", "1", "--json"]).finish().code != 0)
      #expect(try branch.runSuccessfully("output", "2").out.hasSuffix("\n1000\n"))
      // The receipt is kept with its own part of the output.
      #expect(try branch.json("ticket", "1")["result_bytes"].integer == 3_893)
      // A follower still gets all of the output.
      let follower = try branch.launch(["output", "3", "-f"])
      try branch.waitUntil("the output is followed") { follower.lines.count == 1_000 }
      #expect(FileManager.default.createFile(atPath: go, contents: nil))
      #expect(try follower.finish().out.hasSuffix("\n1000\nend\n"))
      #expect(try branch.runSuccessfully("output", "3").out.hasSuffix("\n1000\nend\n"))

      // The next start removes output that is old by then, and the directory of a past day.
      try branch.runSuccessfully("wait")
      try branch.runSuccessfully("stop")
      for name in try FileManager.default.contentsOfDirectory(atPath: "\(branch.home)/output/1") {
        age("\(branch.home)/output/1/\(name)")
      }
      try FileManager.default.removeItem(atPath: other)
      try branch.start("--config", file, "--speed", "max")
      try branch.waitUntil("all output is removed") { !files.contains(where: isThere) }
      try branch.waitUntil("the directory is removed") { !isThere("\(branch.home)/output/1") }
      #expect(try branch.run("output", "2", "--day", "1").code == 4)
      #expect(try branch.json("audit")["ok"].flag == true)
      let shown = try branch.runSuccessfully("config", "show", "--config", file).out
      #expect(shown.contains("output_retention") && shown.contains("1s"), "\(shown)")
      try branch.runSuccessfully("stop", "--now")
      // A closed bank reports the same.
      #expect(try branch.run("output", "2", "--day", "1").code == 4)
      // Files removed by others are not reported as removed by the setting.
      try FileManager.default.removeItem(atPath: "\(branch.home)/output/removed")
      #expect(try branch.run("output", "2", "--day", "1").code == 0)
    }
  }

  @Test("an invalid setting is refused with its place", arguments: ["-1h", "soon", "200000d"])
  func refused(_ span: String) throws {
    try withScratchBank { branch in
      let file = try branch.write(Self.configuration(keeping: span), to: "bank.json")
      let checked = try branch.run("config", "check", file)
      #expect(checked.code == 2 && checked.err.contains("output_retention"), checked.story)
    }
  }
}
