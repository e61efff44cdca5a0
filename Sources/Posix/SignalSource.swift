// Signals as events: they are blocked and read from a descriptor, so no code ever runs in a signal handler.
// Invariant: a process has one thread when it makes a source; otherwise another thread could receive the
// signals in the usual way. Errors: SystemError when it is made; later only a broken kernel could fail, and
// that traps.
import CLinux
import Glibc

/// A signal that arrived.
public struct SignalReport: Sendable, Hashable {
  /// Signal number.
  public let signal: CInt
  /// Process id of the sender; 0 for the kernel.
  public let senderPid: pid_t
  /// User id of the sender.
  public let senderUid: uid_t
}

/// Delivers signals through an ``EventLoop``. `signalfd(2)`
///
/// Several pending signals of one kind are delivered once. Signals stay blocked when the source ends.
public final class SignalSource {
  private let loop: EventLoop
  private var registration: Registration?
  private let delivery: Delivery

  /// Blocks `signals` in this thread and calls `handler` with each arrival, from the loop.
  ///
  /// A signal that is ignored at this moment stays ignored, as with `nohup`.
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

  /// Pauses delivery. Signals that arrive meanwhile are delivered once, after ``resume()``.
  public func pause() {
    if let registration { loop.deregister(registration) }
    registration = nil
  }

  /// Resumes delivery after a pause.
  public func resume() throws(SystemError) {
    guard registration == nil else { return }
    let delivery = delivery
    // The loop holds the delivery, not this source, so releasing the source ends it.
    registration = try loop.register(fd: delivery.number, interest: .read) { _ in delivery.run() }
  }
}

/// The descriptor outlives a source that is released by its own handler, until the handler has returned.
private final class Delivery {
  let descriptor: FileDescriptor
  let handler: (SignalReport) -> Void
  var isCancelled = false

  init(_ descriptor: consuming FileDescriptor, to handler: @escaping (SignalReport) -> Void) {
    self.descriptor = descriptor
    self.handler = handler
  }

  var number: CInt { descriptor.rawValue }

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
