// The search for a program, and the message if none is found. No program is run.
import CommandRunner
import Posix
import PosixFixture
import Testing

@Suite struct ProgramSearchTests {
  /// first/plain (not executable), first/folder/, second/tool, second/plain (executable).
  private func places() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory("command-tests")
    for name in ["first", "second", "first/folder"] { try Directory.create(path: directory.file(name)) }
    try write("", to: directory.file("first/plain"), mode: 0o600)
    try write("", to: directory.file("second/tool"), mode: 0o700)
    try write("", to: directory.file("second/plain"), mode: 0o700)
    return directory
  }

  @Test("the directories are searched in order, and files without execute permission are skipped")
  func inPath() throws {
    let directory = try places()
    let (first, second) = (directory.file("first"), directory.file("second"))
    let both = "\(first):\(second)"
    #expect(ProgramSearch.find("tool", path: both) == .success("\(second)/tool"))
    #expect(ProgramSearch.find("plain", path: both) == .success("\(second)/plain"))
    #expect(
      ProgramSearch.find("tool", path: "/nowhere:\(second)/tool:\(second)") == .success("\(second)/tool"))
    #expect(
      ProgramSearch.find("plain", path: first)
        == .failure(.notExecutable("\(first)/plain", reason: "Permission denied")))
    #expect(
      ProgramSearch.find("folder", path: both)
        == .failure(.notExecutable("\(first)/folder", reason: "Is a directory")))
    #expect(ProgramSearch.find("nothing", path: both) == .failure(.programMissing("nothing", searched: both)))
  }

  @Test("without a PATH it is searched for in the directories of execvp")
  func withoutPath() throws {
    #expect(ProgramSearch.find("sh", path: nil) == .success("/bin/sh"))
    #expect(
      ProgramSearch.find("no-such-tool", path: nil)
        == .failure(.programMissing("no-such-tool", searched: "/bin:/usr/bin")))
  }

  @Test("a relative path starts from the directory of the command, and is named as it sees it")
  func relative() throws {
    let directory = try places()
    let home = directory.path
    #expect(ProgramSearch.find("tool", path: "second", directory: home) == .success("second/tool"))
    #expect(ProgramSearch.find("second/tool", path: nil, directory: home) == .success("second/tool"))
    let second = directory.file("second")
    for path in ["", ":/nowhere", "/nowhere:", "."] {
      #expect(ProgramSearch.find("tool", path: path, directory: second) == .success("./tool"))
    }
  }

  @Test("a found place is remembered until it is forgotten, a missing one is not")
  func remembered() throws {
    let directory = try places()
    let (first, second) = (directory.file("first"), directory.file("second"))
    let both = "\(first):\(second)"
    let memory = ProgramPathCache()
    #expect(memory.find("late", path: both) == .failure(.programMissing("late", searched: both)))
    #expect(!memory.forget())
    try write("", to: directory.file("second/late"), mode: 0o700)
    #expect(memory.find("late", path: both) == .success("\(second)/late"))
    #expect(!memory.forget())
    #expect(memory.find("late", path: both) == .success("\(second)/late"))
    try write("", to: directory.file("first/late"), mode: 0o700)
    try Directory.unlink(directory.file("second/late"))
    // Within a second it is returned again, and a caller that finds nothing there forgets it.
    while memory.find("late", path: both) == .success("\(second)/late") { if memory.forget() { break } }
    #expect(memory.find("late", path: both) == .success("\(first)/late"))
    #expect(memory.find("late", path: first) == .success("\(first)/late"))
  }

  @Test("a name with a slash is a path and nothing else")
  func slash() throws {
    let directory = try places()
    let tool = directory.file("second/tool")
    #expect(ProgramSearch.find(tool, path: "") == .success(tool))
    #expect(ProgramSearch.find("./tool", path: directory.file("second")).isRefusal(with: 127))
    #expect(ProgramSearch.find(directory.file("first/plain"), path: "").isRefusal(with: 126))
    #expect(ProgramSearch.find(directory.file("first"), path: "").isRefusal(with: 126))
    #expect(ProgramSearch.find(tool + "/x", path: "").isRefusal(with: 127))
    #expect(ProgramSearch.find("", path: "/bin").isRefusal(with: 127))
  }

  @Test("a refusal names what is missing, and where it was searched")
  func sentences() {
    #expect(
      CommandStartError.programMissing("thumbs", searched: "/bin").description
        == #"no program "thumbs" in PATH="/bin""#)
    #expect(CommandStartError.programMissing("/x", searched: nil).description == #"no program at "/x""#)
    #expect(
      CommandStartError.notExecutable("/x", reason: "Permission denied").description
        == #""/x" cannot be run: Permission denied"#)
  }
}

extension Result<String, CommandStartError> {
  fileprivate func isRefusal(with code: Int32) -> Bool {
    guard case .failure(let refusal) = self else { return false }
    return refusal.exitCode == code
  }
}
