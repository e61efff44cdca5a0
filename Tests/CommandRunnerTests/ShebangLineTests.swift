// The first line of a script.
import Posix
import PosixFixture
import Testing

@testable import CommandRunner

@Suite struct ShebangLineTests {
  @Test("the interpreter and its one argument are read as the kernel reads them")
  func read() {
    func line(_ text: String) -> [String?]? {
      ShebangLine(Array(text.utf8)).map { [$0.interpreter, $0.argument] }
    }
    #expect(line("#!/bin/sh\necho") == ["/bin/sh", nil])
    #expect(line("#! \t/bin/sh  -e -x \n") == ["/bin/sh", "-e -x"])
    #expect(line("#!/bin/sh\r\n") == ["/bin/sh\r", nil])
    #expect(line("#!/bin/sh") == ["/bin/sh", nil])
    for text in ["", "#", "#!", "#!  \n/bin/sh", "echo", " #!/bin/sh"] {
      #expect(line(text) == nil, "\(text)")
    }
    #expect(line("#!" + String(repeating: "x", count: 400))?[0]?.utf8.count == 253)
  }

  @Test("a missing interpreter is named, and a line of another system is explained")
  func faults() throws {
    func fault(_ text: String) -> String? {
      ShebangLine(Array(text.utf8))?.fault(search: "/usr/bin:/bin", directory: "/")
    }
    #expect(fault("#!/bin/sh\n") == nil && fault("#!/usr/bin/env sh\n") == nil)
    #expect(fault("#!/no/such\n") == #"its first line names the interpreter "/no/such", which is missing"#)
    let windows = try #require(fault("#!/bin/sh\r\n"))
    #expect(windows.contains(#""/bin/sh\r""#) && windows.contains("carriage return"), "\(windows)")
    #expect(fault("#!/usr/bin/env no-such-python3\n")?.contains("no-such-python3") == true)
    #expect(fault("#!/usr/bin/env sh\r\n")?.contains("carriage return") == true)
    #expect(fault("#!/usr/bin/env -S A=1 sh -e\n") == nil)
    #expect(fault("#!/etc/passwd\n")?.contains("Permission denied") == true)
  }

  @Test("the interpreter of a script that is longer than what the kernel reads is checked, too")
  func longScript() throws {
    let directory = try TemporaryDirectory("command-tests")
    let path = directory.file("script")
    let lines = "#!/no/such -x\n" + String(repeating: "echo line\n", count: 1_000)
    try FileDescriptor.open(path, [.writeOnly, .create]).writeAll(Array(lines.utf8))
    #expect(ShebangLine(of: path).map { [$0.interpreter, $0.argument] } == ["/no/such", "-x"])
    #expect(ShebangLine.fault(of: path, search: nil, directory: "/")?.contains("/no/such") == true)
    #expect(ShebangLine(of: directory.file("none")) == nil)
  }

  @Test("a command whose directory is gone reports that, and not a missing program")
  func directory() {
    let found = ProgramSearch.find("./tool", path: nil, directory: "/no/such/place")
    #expect(found == .failure(.directoryUnusable("/no/such/place", reason: "No such file or directory")))
  }
}
