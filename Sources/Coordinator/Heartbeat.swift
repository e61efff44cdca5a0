// Heartbeats of a coordinator to its guardian and service manager, and the guardian's answers. The running loop and
// long database work in progress send the heartbeats, so a process that is stuck sends none.
// Errors: without a socket no answers are received; heartbeats are still sent.

import Glibc
import Posix
import Time

final class Heartbeat {
  /// Called with the process id that an answer contains.
  var onAnswer: ((Int32) -> Void)?
  /// Called after a heartbeat was sent.
  var onBeat: (() -> Void)?
  /// Time without heartbeats after which the guardian examines whether this process is stuck; see `StallDetector`.
  var patience: TimeSpan

  private let notifier: ServiceNotifier?
  private let isGuarded: Bool
  private let path: String
  private let loop: EventLoop
  /// Number of the last heartbeat, which the guardian repeats in its answer.
  private var number: Int64 = 0
  private var dueAt: MonotonicTime
  private var socket: FileDescriptor?
  private var registration: Registration?

  init(_ home: BankHome, _ notifier: ServiceNotifier?, isGuarded: Bool, patience: TimeSpan, loop: EventLoop) {
    self.notifier = notifier
    self.isGuarded = isGuarded
    self.patience = patience
    self.loop = loop
    path = home.heartbeatReplies
    dueAt = loop.moment().monotonic
  }

  /// Time of the next heartbeat; nil if none are wanted.
  var nextDeadline: MonotonicTime? { pause == nil ? nil : dueAt }

  /// Interval of heartbeats: the guardian and the service manager receive at least two within their timeouts.
  private var pause: TimeSpan? {
    let guardians = isGuarded ? patience / 5 * 2 : nil
    let managers = notifier?.watchdog.map { $0 / 2 }
    return [guardians, managers].compactMap { $0 }.min()
  }

  /// Sends a heartbeat if one is due. Call from the loop, and during long work that makes progress.
  func progressed() {
    guard let pause else { return }
    let now = SystemClock.monotonic()
    guard now >= dueAt else { return }
    dueAt = now + pause
    var message = ServiceMessage.watchdog.with("MAINPID", "\(CurrentProcess.pid)")
    if isGuarded {
      listen()
      number += 1
      message = message.withHeartbeat(number, patience: patience)
    }
    notifier?.tell(message)
    onBeat?()
  }

  /// Removes the socket for answers.
  func close() {
    if let registration { loop.deregister(registration) }
    registration = nil
    if socket != nil { try? Directory.unlink(path) }
    socket = nil
  }

  /// Listens for answers. Creates the socket again if it was removed.
  private func listen() {
    // A failed check counts as success: without a free descriptor the socket could not be created again.
    if socket != nil, Datagrams.hasReceiver(at: path) != false { return }
    if let registration { loop.deregister(registration) }
    registration = nil
    socket = try? Datagrams.bind(path: path)
    guard let number = socket?.rawValue else { return }
    registration = try? loop.register(fd: number, interest: .read) { [unowned self] _ in handle() }
  }

  private func handle() {
    // The number of messages is limited, because any process of this user may write to the socket.
    for _ in 0..<64 {
      guard socket != nil, let bytes = try? Datagrams.receive(from: socket!) else { return }
      let message = ServiceMessage(bytes)
      if let given = message.heartbeat, (1...number).contains(given), let pid = message.mainPid {
        onAnswer?(pid)
      }
    }
  }
}
