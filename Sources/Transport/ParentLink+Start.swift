// Owns how the process of a service begins: under the coordinator that has started it, if one has, whose orders it waits for.
// Invariant: a process with a coordinator does not outlive it, from its first moment on.
// Failure: why there is no use in going on is told on standard error, and is the exit code.
import Glibc
import Posix
import Wire

extension ParentLink {
  /// How a process has begun.
  public enum Start {
    /// By hand: nobody has started it that wants to be told.
    case alone
    /// Under a coordinator, which has given its orders.
    case supervised(ParentLink)
    /// It is not wanted, or its coordinator is gone or speaks otherwise: the exit code.
    case ended(Int32)
  }

  /// Greets the coordinator at descriptor 3, and waits for its orders.
  ///
  /// - Parameters:
  ///   - role: what the process is to the coordinator.
  ///   - name: the program, as lists of processes and standard error show it.
  public static func start(as role: PeerRole, named name: String, on loop: EventLoop) throws(SystemError)
    -> Start
  {
    var link: ParentLink?
    if let channel = inheritedChannel() {
      // A pair's credentials are those of the process that made it, which is the coordinator.
      let parent = try UnixSocket.peer(of: channel).pid
      guard ParentDeath.followParent(expectedParent: parent) else { return .ended(0) }
      link = try ParentLink(channel, loop: loop, role: role)
    }
    CurrentProcess.setName(name)
    guard let link else { return .alone }
    while link.state == .greeting { try loop.runOnce(until: nil) }
    switch link.state {
    case .gone, .closing: return .ended(0)
    case .misunderstood(let words):
      complain(Failure(.system, detail: words), as: name)
      return .ended(1)
    case .greeting, .atWork: return .supervised(link)
    }
  }

  /// Tells a failure of a program on standard error.
  public static func complain(_ failure: Failure, as name: String) {
    let words = [failure.code.rawValue, failure.subject, failure.detail].filter { !$0.isEmpty }
    // Where nobody reads standard error there is nobody to tell.
    _ = try? StandardStreams.write("\(name): \(words.joined(separator: ": "))\n", to: .error)
  }
}
