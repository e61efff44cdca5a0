// Reading of all rows for an audit, in a separate process. Meanwhile the coordinator keeps the database file unchanged
// and continues to serve. The process exits with the coordinator.
// Invariant: after a start the caller receives the complete result or nil, once.

import Glibc
import Posix
import QueueCore
import Storage
import Transport
import Wire

final class AuditReaderProcess {
  private typealias Channel = MessageChannel<BankMessage, BankMessage>

  private let loop: EventLoop
  private var child: ChildProcess?
  private var channel: Channel?
  private var registration: Registration?
  /// Called once, with the result or with nil if there is none; nil after the call.
  private var onEnd: ((AuditReport?) -> Void)?
  /// Limit in bytes of the output buffered for the process.
  private static let backlogLimit = 1 << 20

  /// Process id; nil after the process is reaped.
  var pid: Int32? { registration == nil ? nil : child?.pid }

  /// Starts the process.
  /// - Parameter onEnd: Called with the result, or with nil if the process exited without one or was stopped.
  init(
    home: BankHome, program: String, environment: EnvironmentVariables, loop: EventLoop,
    onEnd: @escaping (AuditReport?) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.onEnd = onEnd
    try ChildProcess.spawn(
      executable: program, arguments: ["--count", "\(CurrentProcess.pid)", "--home", home.path],
      environment: environment
    ) { child, descriptor throws(SystemError) in try watch(child, descriptor) }
  }

  private func watch(_ child: ChildProcess, _ descriptor: consuming FileDescriptor) throws(SystemError) {
    let channel = try Channel(
      descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.control, backlogLimit: Self.backlogLimit)
    channel.onMessage = { [weak self] message in
      guard case .reply(let reply) = message, case .audit(let report) = reply.answer else { return }
      self?.finish(report)
    }
    channel.onEnd = { [weak self] _ in self?.finish(nil) }
    // This closure retains the object until the process is reaped.
    registration = try loop.register(fd: child.fd, interest: .read) { [self] _ in reapChild() }
    self.child = child
    self.channel = channel
  }

  /// Kills the process. If it has sent no result, `onEnd` is called with nil.
  func stop() { finish(nil) }

  /// Kills the process and passes its result to `onEnd`; nil if it has sent none.
  private func finish(_ report: AuditReport?) {
    child?.kill(SIGKILL)
    channel = nil
    let onEnd = onEnd
    self.onEnd = nil
    onEnd?(report)
  }

  /// Reaps the process if it has exited, and stops watching it.
  private func reapChild() {
    guard child?.reap() != nil, let registration else { return }
    loop.deregister(registration)
    self.registration = nil
    // Close the pidfd now, even if this object is still referenced.
    child = nil
  }

  /// Runs as the reader process: audits the rows and sends the report. Returns the exit code.
  static func run(_ home: BankHome, for coordinator: Int32, on descriptor: CInt?) -> Int32 {
    guard let descriptor else { return 1 }
    let channel = FileDescriptor(owning: descriptor)
    // The audit gets less processor time than the processes that serve customers.
    _ = nice(10)
    guard ParentDeath.dieWithParent(expectedParent: coordinator) else { return 0 }
    do throws(StoreError) {
      let report = AuditReport(try SQLiteStore(frozen: home.database).audit())
      let reply = ControlReply(number: 1, answer: .audit(report))
      let frame = Channel.frame(of: .reply(reply), limit: FrameLimits.control)
      return (try? channel.writeAll(frame)) == nil ? 1 : 0
    } catch { return 1 }
  }
}
