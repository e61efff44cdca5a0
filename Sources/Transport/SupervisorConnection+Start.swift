// Start of a service process or of `bank-web`. If a coordinator has started the process, the process waits for its
// orders.
// Invariant: the kernel kills a process that a coordinator has started when the coordinator exits. Errors: if
// the coordinator refuses the process or sends invalid messages, the reason is written to standard error, and
// the exit code is 1.
import Glibc
import Posix
import Wire

extension SupervisorConnection {
  /// How a process was started, or the code with which it must exit.
  public enum Start {
    /// A user has started the process; there is no coordinator.
    case unsupervised
    /// A coordinator has started the process and has sent its orders.
    case supervised(SupervisorConnection)
    /// The process has to exit with this code: 0 if the coordinator has exited or requests that the process
    /// exit, 1 if the coordinator refused the process or sent an invalid message.
    case ended(Int32)
  }

  /// Greets the coordinator at descriptor 3, if there is one, and waits for its orders.
  ///
  /// - Parameters:
  ///   - role: role of the process, for its hello.
  ///   - name: program name in lists of processes and on standard error.
  public static func start(as role: PeerRole, named name: String, on loop: EventLoop) throws(SystemError)
    -> Start
  {
    var link: SupervisorConnection?
    if let channel = inheritedChannel() {
      // The peer credentials of a socket pair are those of the process that created it, which is the
      // coordinator.
      let parent = try UnixSocket.peer(of: channel).pid
      guard ParentDeath.dieWithParent(expectedParent: parent) else { return .ended(0) }
      link = try SupervisorConnection(channel, loop: loop, role: role)
    }
    CurrentProcess.setName(name)
    guard let link else { return .unsupervised }
    while link.state == .greeting { try loop.runOnce(until: nil) }
    switch link.state {
    case .disconnected, .closing: return .ended(0)
    case .protocolError(let words):
      complain(Failure(.system, detail: words), as: name)
      return .ended(1)
    case .greeting, .running: return .supervised(link)
    }
  }

  /// Writes a program's failure to standard error.
  public static func complain(_ failure: Failure, as name: String) {
    let words = [failure.code.name, failure.subject, failure.detail].filter { !$0.isEmpty }
    // If writing to standard error fails, there is no other place for the report.
    _ = try? StandardStreams.write("\(name): \(words.joined(separator: ": "))\n", to: .error)
  }
}
