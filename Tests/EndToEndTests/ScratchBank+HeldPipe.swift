// A named pipe whose writing end a test holds: processes of a job that read from it run until they are killed, or until
// the test has ended, and never for a time.
import Glibc

extension ScratchBank {
  /// Makes the pipe and holds its writing end until the bank of this test is closed, also by the death of the test.
  ///
  /// - Returns: its path; opening it to read does not block meanwhile.
  /// - Throws: Trouble with the reason of the system.
  func heldPipe() throws -> String {
    let path = path("held")
    // Opened for both, because there is no reader yet. fifo(7)
    guard mkfifo(path, 0o600) == 0, case let end = Glibc.open(path, O_RDWR | O_CLOEXEC), end >= 0 else {
      throw TestFailure("\(path) cannot be made: \(String(cString: strerror(errno)))")
    }
    atClose { Glibc.close(end) }
    return path
  }
}
