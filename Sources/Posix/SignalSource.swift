// Signals as events: they are blocked and read from a descriptor, so no code runs in a handler of these signals.
// Requirement: a process has one thread when it makes a source. If the process had another thread, that thread
// would not block the signals, and their default actions would apply. Errors: SystemError when the source is
// made or resumed. A failure of a later read is impossible on a working kernel, so it traps.
import CLinux
import Glibc

/// A received signal.
public struct SignalReport: Sendable, Hashable {
  /// Signal number.
  public let signal: CInt
  /// Process id of the sender; for SIGCHLD that of the child, and 0 for other signals of the kernel.
  public let senderPid: pid_t
  /// User id of the sender.
  public let senderUid: uid_t
}

/// Delivers signals through an ``EventLoop``. `signalfd(2)`
///
/// Several pending standard signals with the same number are delivered once. Signals stay blocked after the source is
/// released.
public final class SignalSource {
  private let loop: EventLoop
  private var registration: Registration?
  private let delivery: Delivery

  /// Blocks `signals` in this thread. The loop calls `handler` for each received signal.
  ///
  /// A signal that is ignored at the time of this call is not blocked and stays ignored, as with `nohup`.
  public init(
    _ signals: [CInt], on loop: EventLoop, handler: @escaping (SignalReport) -> Void
  ) throws(SystemError) {
    let number = try systemCall("signalfd", on: "") { Kernel.makeSignalDescriptor(signals) }
    let delivery = Delivery(FileDescriptor(owning: number), to: handler)
    self.loop = loop
    self.delivery = delivery
    try resume()
  }

  deinit {
    delivery.isCancelled = true
    pause()
  }

  /// Pauses delivery. Signals received meanwhile are delivered after ``resume()``.
  public func pause() {
    if let registration { loop.deregister(registration) }
    registration = nil
  }

  /// Resumes delivery after a pause.
  public func resume() throws(SystemError) {
    guard registration == nil else { return }
    let delivery = delivery
    // The loop holds the delivery and not this source, so releasing the source ends the delivery.
    registration = try loop.register(fd: delivery.number, interest: .read) { _ in delivery.run() }
  }
}

/// Signal descriptor and its handler. If a handler releases its own source, the descriptor stays open until the handler
/// has returned.
private final class Delivery {
  let descriptor: FileDescriptor
  let handler: (SignalReport) -> Void
  var isCancelled = false

  init(_ descriptor: consuming FileDescriptor, to handler: @escaping (SignalReport) -> Void) {
    self.descriptor = descriptor
    self.handler = handler
  }

  var number: CInt { descriptor.rawValue }

  /// Reads all pending signals and calls the handler for each.
  func run() {
    var signal = linux_signal()
    while !isCancelled {
      let result = uninterrupted { Kernel.readSignal(descriptor.rawValue, &signal) }
      precondition(result >= 0, "a signal descriptor can be read")
      guard result == 1 else { return }
      let sender = (pid: signal.sender_pid, uid: signal.sender_uid)
      handler(SignalReport(signal: signal.number, senderPid: sender.pid, senderUid: sender.uid))
    }
  }
}
