// Heartbeats of a coordinator to its guardian and service manager, and the guardian's answers. They are sent by the
// running loop and by long database work as it proceeds, never by a timer.
// Invariant: nothing here blocks: a watcher that does not read costs nothing.
// Errors: without a socket for answers there are none; heartbeats are sent all the same.

import Glibc
import Posix
import Time

final class Pulse {
  /// Called with the process id of each answer's sender.
  var onAnswer: ((Int32) -> Void)?
  var onBeat: (() -> Void)?
  /// Time without heartbeats after which the guardian considers this process stuck.
  var patience: TimeSpan

  private let notifier: ServiceNotifier?
  private let isGuarded: Bool
  private let path: String
  private let loop: EventLoop
  private var number: Int64 = 0
  private var dueAt: MonotonicTime
  private var socket: FileDescriptor?
  private var registration: Registration?

  init(_ home: BankHome, _ notifier: ServiceNotifier?, isGuarded: Bool, patience: TimeSpan, loop: EventLoop) {
    self.notifier = notifier
    self.isGuarded = isGuarded
    self.patience = patience
    self.loop = loop
    path = home.answers
    dueAt = loop.moment().monotonic
  }

  /// Time of the next heartbeat; nil if none are wanted.
  var nextDeadline: MonotonicTime? { pause == nil ? nil : dueAt }

  /// Interval of heartbeats: guardian and service manager get two within their timeouts. Each heartbeat wakes
  /// two processes twice, and an idle bank must wake at most once a second in total.
  private var pause: TimeSpan? {
    let guardians = isGuarded ? patience / 5 * 2 : nil
    let managers = notifier?.watchdog.map { $0 / 2 }
    return [guardians, managers].compactMap { $0 }.min()
  }

  /// Sends a heartbeat if one is due. Call after work was done, never from a timer.
  func progressed() {
    guard let pause else { return }
    let now = SystemClock.monotonic()
    guard now >= dueAt else { return }
    dueAt = now + pause
    var message = ServiceMessage.watchdog.with("MAINPID", "\(CurrentProcess.pid)")
    if isGuarded {
      listen()
      number += 1
      message = message.withPulse(number, patience: patience)
    }
    notifier?.tell(message)
    onBeat?()
  }

  func close() {
    if let registration { loop.deregister(registration) }
    registration = nil
    if socket != nil { try? Directory.unlink(path) }
    socket = nil
  }

  /// Listens for answers, also again after the socket was removed.
  private func listen() {
    // An unknown result counts as still there: without a free descriptor the socket could not be created again.
    if socket != nil, Datagrams.isReceived(at: path) != false { return }
    if let registration { loop.deregister(registration) }
    registration = nil
    socket = try? Datagrams.bind(path: path)
    guard let number = socket?.rawValue else { return }
    registration = try? loop.register(fd: number, interest: .read) { [unowned self] _ in hear() }
  }

  private func hear() {
    // Bounded, because any process of this user may write here.
    for _ in 0..<64 {
      guard socket != nil, let bytes = try? Datagrams.receive(from: socket!) else { return }
      let message = ServiceMessage(bytes)
      if let given = message.pulse, (1...number).contains(given), let pid = message.mainPid { onAnswer?(pid) }
    }
  }
}
