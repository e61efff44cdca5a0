// Time limit of the tests themselves: a test that waits for ever is ended and named.
import Glibc
import Testing

@Suite("Time limit of a test")
struct WatchdogTests {
  @Test("a test that waits for an endless program is named, and the program is killed")
  func ends() throws {
    try withKnownIssue {
      try withScratchBank(within: .milliseconds(300)) { branch in
        let sleeper = try branch.launch(["600"], program: "/bin/sleep")
        #expect(try sleeper.finish().code == 128 + SIGKILL)
      }
    } matching: { issue in
      let words = issue.comments.map(\.rawValue).joined()
      return words.contains("WatchdogTests/ends()") && words.contains("/bin/sleep 600")
    }
  }
}
