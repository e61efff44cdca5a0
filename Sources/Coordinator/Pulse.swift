// Owns the signs of progress that a coordinator gives to whoever watches over it, and the answers to them. They are given
// by the loop as it turns, and by long works on the database as they go on; no timer gives one.
// Invariant: nothing here waits: a watcher that does not read costs nothing.
// Failure: without a socket for the answers there are none; the signs are given all the same.

import Glibc
import Posix
import Time

final class Pulse {
  /// Called with every answer, and with the process that gave it.
  var onAnswer: ((Int32) -> Void)?
  var onBeat: (() -> Void)?
  /// How long this process may be silent, as its guardian is told.
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

  /// When the next sign is due; nil where nobody wants any.
  var nextDeadline: MonotonicTime? { pause == nil ? nil : dueAt }

  /// The span between two signs: a guardian and a manager get two within their patience. Each sign wakes two processes twice,
  /// and an idle bank shall wake at most once a second in all.
  private var pause: TimeSpan? {
    let guardians = isGuarded ? patience / 5 * 2 : nil
    let managers = notifier?.watchdog.map { $0 / 2 }
    return [guardians, managers].compactMap { $0 }.min()
  }

  /// The process has come further: a sign is given where one is due. To be called by work, and never by a clock.
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

  /// Listens for answers; also again, where somebody has removed the socket.
  private func listen() {
    // Where that cannot be found out nobody has removed it: without a descriptor it could not be made again.
    if socket != nil, Datagrams.isReceived(at: path) != false { return }
    if let registration { loop.deregister(registration) }
    registration = nil
    socket = try? Datagrams.bind(path: path)
    guard let number = socket?.rawValue else { return }
    registration = try? loop.register(fd: number, interest: .read) { [unowned self] _ in hear() }
  }

  private func hear() {
    // Bounded, because anybody of this user may write here.
    for _ in 0..<64 {
      guard socket != nil, let bytes = try? Datagrams.receive(from: socket!) else { return }
      let message = ServiceMessage(bytes)
      if let given = message.pulse, (1...number).contains(given), let pid = message.mainPid { onAnswer?(pid) }
    }
  }
}
