// A stream of signals that interrupts the system calls of one thread, to reach the EINTR paths. Invariant:
// when stop returns, no further signal is sent. SIGUSR2 keeps its empty handler until the process ends,
// because a signal could still be pending. Failure: an error when the handler or the thread cannot be
// created.
import Glibc
import Posix

/// SIGUSR2 to the creating thread, about every millisecond, until stopped.
final class Interruption: @unchecked Sendable {
  private let target = pthread_self()
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var isStopped = false
  private var count = 0
  private let afterFive: @Sendable () -> Void
  private var sender = pthread_t()

  /// Starts; after the fifth signal `afterFive` is called once, by another thread.
  init(afterFive: @escaping @Sendable () -> Void = {}) throws {
    self.afterFive = afterFive
    pthread_mutex_init(lock, nil)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    // Without SA_RESTART the kernel returns EINTR to a thread in a call.
    action.sa_flags = 0
    guard sigaction(SIGUSR2, &action, nil) == 0 else {
      throw SystemError(call: "sigaction", subject: "", code: errno)
    }
    let code = pthread_create(
      &sender, nil,
      { context in
        Unmanaged<Interruption>.fromOpaque(context!).takeRetainedValue().send()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    guard code == 0 else { throw SystemError(call: "pthread_create", subject: "", code: code) }
  }

  deinit { lock.deallocate() }

  /// Number of signals sent so far.
  var sent: Int {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return count
  }

  func stop() {
    pthread_mutex_lock(lock)
    isStopped = true
    pthread_mutex_unlock(lock)
    pthread_join(sender, nil)
  }

  private func send() {
    while true {
      pthread_mutex_lock(lock)
      let ends = isStopped
      if !ends && pthread_kill(target, SIGUSR2) == 0 { count += 1 }
      let isFifth = count == 5
      pthread_mutex_unlock(lock)
      if ends { return }
      if isFifth { afterFive() }
      // A rate of a thousand signals a second; nothing is waited for here.
      _ = poll(nil, 0, 1)
    }
  }
}
