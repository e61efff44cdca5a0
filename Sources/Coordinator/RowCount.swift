// Owns the one part of an audit that takes long, the reading of every row, as a process of its own: the coordinator keeps
// the file of the database as it is meanwhile, and goes on. It changes nothing, and ends with the coordinator.
// Invariant: what is found is told exactly once, whole, or not at all. Whoever is told nothing reads the rows by itself, so
// that whatever goes wrong here has its name there.

import Glibc
import Posix
import QueueCore
import Storage
import Transport
import Wire

final class RowCount {
  private typealias Channel = MessageChannel<BankMessage, BankMessage>

  private let loop: EventLoop
  private var child: ChildProcess?
  private var channel: Channel?
  private var registration: Registration?
  /// Called once; nil where nothing was found out.
  private var onEnd: ((AuditReport?) -> Void)?
  private static let backlogLimit = 1 << 20

  /// The process, until it is collected: for so long it belongs to the bank, and is no stranger in its home.
  var pid: Int32? { registration == nil ? nil : child?.pid }

  /// Starts it.
  /// - Parameter onEnd: hears what was found, or nil where the process ended without a word or was stopped.
  init(
    home: BankHome, program: String, environment: Variables, loop: EventLoop,
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
    // Until it is collected it keeps itself, though nobody else does any more.
    registration = try loop.register(fd: child.fd, interest: .read) { [self] _ in collect() }
    self.child = child
    self.channel = channel
  }

  func stop() { finish(nil) }

  /// It has nothing more to say, and so nothing more to do.
  private func finish(_ report: AuditReport?) {
    child?.kill(SIGKILL)
    channel = nil
    let onEnd = onEnd
    self.onEnd = nil
    onEnd?(report)
  }

  private func collect() {
    guard child?.reap() != nil, let registration else { return }
    loop.deregister(registration)
    self.registration = nil
    // Its descriptor goes with it, however long somebody still knows of this count.
    child = nil
  }

  static func run(_ home: BankHome, for coordinator: Int32, on descriptor: CInt?) -> Int32 {
    guard let descriptor else { return 1 }
    let channel = FileDescriptor(owning: descriptor)
    // Whoever is served comes first.
    _ = nice(10)
    guard ParentDeath.followParent(expectedParent: coordinator) else { return 0 }
    do throws(StoreError) {
      let report = AuditReport(try SQLiteStore(frozen: home.database).audit())
      let reply = ControlReply(number: 1, answer: .audit(report))
      let frame = Channel.frame(of: .reply(reply), limit: FrameLimits.control)
      return (try? channel.writeAll(frame)) == nil ? 1 : 0
    } catch { return 1 }
  }
}
