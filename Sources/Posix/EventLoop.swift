// The epoll descriptor and the handlers of its registrations.
// Invariant: a handler is called only for its own registration. Each registration has a generation, so an event
// is ignored if its descriptor was closed and opened again in the same batch. Errors: SystemError.
// Deregistering a stale registration is not an error.
import CLinux
import Glibc
import Time

/// Waits for descriptors and calls their handlers, on one thread.
///
/// Not Sendable: call it only from the thread that runs the loop, which includes its handlers. It is
/// level-triggered: a handler that does not read all data is called again. Source: `epoll(7)`.
public final class EventLoop {
  /// Registration of one descriptor; the handler is nil if the descriptor is not registered.
  private struct Slot {
    var generation: UInt32 = 0
    var interest: Interest = []
    var handler: ((Readiness) -> Void)?
  }

  /// Called once per batch with at least one event, before the first handler, so that all handlers can use one
  /// reading of the clock.
  public var onWake: (() -> Void)?
  /// Time of the last poll for events.
  public private(set) var wokeAt = MonotonicTime(nanoseconds: 0)

  /// Time in which this loop polled for input. Use it for the timeouts of peers, so that the time in which this
  /// process was stopped or waited for a disk does not count as silence of a peer.
  public private(set) var listeningTime = ListeningClock(at: SystemClock.monotonic())
  private let epoll: FileDescriptor
  private let batch: UnsafeMutablePointer<linux_event>
  // Indexed by descriptor. Descriptors are small and dense numbers, so an array needs no hashing.
  private var slots: [Slot] = []
  /// True while a handler is called, which must not run the loop.
  private var isDelivering = false
  /// Number of consecutive full polls of ``spin(for:polling:)`` that found no event, with a limit.
  private var emptyPolls = 0
  /// Number of following calls of ``spin(for:polling:)`` that poll only once because of ``emptyPolls``.
  private var skippedSpins = 0
  /// Number of registrations.
  public private(set) var count = 0

  /// Makes a loop without registrations. `epoll_create1(2)`
  public init() throws(SystemError) {
    epoll = try FileDescriptor("epoll_create1") { Kernel.makeEpoll() }
    batch = .allocate(capacity: Int(LINUX_EVENT_BATCH))
  }

  deinit { batch.deallocate() }

  /// Watches a descriptor. `epoll_ctl(2)` EPOLL_CTL_ADD
  ///
  /// The caller keeps the descriptor and deregisters it before closing it. Hang-ups and errors are reported
  /// whatever the interest is.
  /// - Parameter handler: called from ``runOnce(until:)`` and ``spin(for:polling:)``; it may register, modify
  ///   and deregister anything.
  /// - Throws: EEXIST for a descriptor that is registered already, EPERM for a regular file, which is always
  ///   ready.
  public func register(
    fd: CInt, interest: Interest, handler: @escaping (Readiness) -> Void
  ) throws(SystemError) -> Registration {
    precondition(fd >= 0, "a descriptor is never negative")
    let index = Int(fd)
    if index >= slots.count {
      slots.append(contentsOf: repeatElement(Slot(), count: index + 1 - slots.count))
    }
    let generation = slots[index].generation &+ 1
    let registration = Registration(fd: fd, generation: generation)
    try systemCall("epoll_ctl", on: fd) {
      Kernel.add($0, to: epoll.rawValue, interest, token: registration.token)
    }
    // An existing handler belongs to a descriptor that was closed without being deregistered. The kernel has
    // dropped that registration, and so does this table.
    if slots[index].handler == nil { count += 1 }
    slots[index] = Slot(generation: generation, interest: interest, handler: handler)
    return registration
  }

  /// Changes the interest of a registration; no system call if it is unchanged. `epoll_ctl(2)` EPOLL_CTL_MOD
  ///
  /// The registration must be active.
  public func modify(_ registration: Registration, interest: Interest) throws(SystemError) {
    precondition(contains(registration), "the registration of descriptor \(registration.fd) is not in force")
    let index = Int(registration.fd)
    guard slots[index].interest != interest else { return }
    try systemCall("epoll_ctl", on: registration.fd) {
      Kernel.modify($0, in: epoll.rawValue, interest, token: registration.token)
    }
    slots[index].interest = interest
  }

  /// Stops watching; the handler is not called any more, even for an event that was fetched already.
  ///
  /// An inactive registration is ignored. `epoll_ctl(2)` EPOLL_CTL_DEL
  public func deregister(_ registration: Registration) {
    guard contains(registration) else { return }
    slots[Int(registration.fd)].handler = nil
    slots[Int(registration.fd)].interest = []
    count -= 1
    // The call fails only if the descriptor was closed before, and then the kernel has already dropped the
    // registration.
    _ = uninterrupted { Kernel.remove(registration.fd, from: epoll.rawValue) }
  }

  /// True if the registration is active.
  public func contains(_ registration: Registration) -> Bool {
    let index = Int(registration.fd)
    return index < slots.count && slots[index].generation == registration.generation
      && slots[index].handler != nil
  }

  /// Advances ``listeningTime`` to a reading of the monotonic clock, for time that has passed without a poll.
  public func trackListening(until moment: MonotonicTime) { listeningTime.advance(to: moment) }
  /// Sets the maximum time that one iteration adds to ``listeningTime``: a fraction of the shortest timeout that is
  /// measured by this clock.
  public func trackListening(inStepsOf span: TimeSpan) { listeningTime.stride = span }

  /// Handles the input that has arrived by now, without waiting. Call it before a peer is judged silent.
  ///
  /// The number of iterations is bounded, because peers that keep sending could block the function forever.
  public func handlePendingInput() throws(SystemError) {
    for _ in 0...(2 + 2 * count / Int(LINUX_EVENT_BATCH)) {
      guard try runOnce(until: wokeAt) > 0 else { return }
    }
  }

  /// Waits for events until the deadline, and calls their handlers, with a limit per call.
  ///
  /// The whole batch is fetched before the first handler is called.
  /// - Parameter deadline: nil to wait without a timeout. With a time in the past the loop does not wait.
  /// - Returns: number of events fetched, 0 at the deadline. Some may belong to inactive registrations.
  @discardableResult
  public func runOnce(until deadline: MonotonicTime?) throws(SystemError) -> Int {
    precondition(!isDelivering, "a handler must not run the loop that called it")
    let fetched = try systemCall("epoll_wait", on: "") {
      // Each retry after EINTR computes the timeout again, so it waits only for the remaining time.
      Kernel.wait(in: epoll.rawValue, batch, until: deadline)
    }
    recordPoll()
    deliver(fetched)
    return Int(fetched)
  }

  /// Records the time of a poll, which ``listeningTime`` counts.
  private func recordPoll() {
    wokeAt = SystemClock.monotonic()
    listeningTime.recordPoll(at: wokeAt)
  }

  /// Polls repeatedly until events arrive, for at most `span`, without sleeping, and calls their handlers.
  ///
  /// Use it in a process that has just answered a peer and expects the peer's next message soon: sleeping and
  /// waking up costs both processes more than polling. Other processes can use this core meanwhile. After a
  /// call without an event, some of the following calls poll only once. `sched_yield(2)`
  /// - Parameters:
  ///   - span: duration of the polling. Zero polls once.
  ///   - ask: polls only the peer that is expected to answer, without waiting, and returns true for an answer.
  ///     No other input is read during the span. Nil to poll all registrations.
  /// - Returns: number of events fetched, 1 for an answer to `ask`, 0 after the span.
  public func spin(for span: TimeSpan, polling ask: (() -> Bool)? = nil) throws(SystemError) -> Int {
    precondition(!isDelivering, "a handler must not run the loop that called it")
    let isSkipped = skippedSpins > 0 || span <= .zero
    // Set after the first poll without an event, because an event is usually ready.
    var end: MonotonicTime?
    while true {
      if let ask {
        recordPoll()
        isDelivering = true
        let isAnswered = ask()
        isDelivering = false
        if isAnswered {
          (emptyPolls, skippedSpins) = (0, 0)
          return 1
        }
        if isWithinSpan(&end, isSkipped ? .zero : span) {
          Kernel.yieldProcessor()
          continue
        }
      }
      let fetched = try systemCall("epoll_wait", on: "") { Kernel.pollEvents(in: epoll.rawValue, batch) }
      recordPoll()
      if fetched > 0 {
        (emptyPolls, skippedSpins) = (0, 0)
        deliver(fetched)
        return Int(fetched)
      }
      guard isWithinSpan(&end, isSkipped ? .zero : span) else { break }
      Kernel.yieldProcessor()
    }
    if !isSkipped {
      emptyPolls = min(emptyPolls + 1, 5)
      skippedSpins = 1 << emptyPolls - 1
    } else if skippedSpins > 0 {
      skippedSpins -= 1
    }
    return 0
  }

  /// True until `span` has passed since the first call, which sets `end`.
  private func isWithinSpan(_ end: inout MonotonicTime?, _ span: TimeSpan) -> Bool {
    if let end { return wokeAt < end }
    end = wokeAt + span
    return span > .zero
  }

  /// Calls the handlers of the fetched events.
  private func deliver(_ fetched: CInt) {
    isDelivering = true
    defer { isDelivering = false }
    if fetched > 0 { onWake?() }
    for index in 0..<Int(fetched) { deliver(batch[index]) }
  }

  /// Calls the handler of an event, if its registration is still active.
  private func deliver(_ event: linux_event) {
    let registration = Registration(token: event.token)
    // Kept in a local variable, because the handler may deregister itself while it runs.
    guard contains(registration), let handler = slots[Int(registration.fd)].handler else { return }
    handler(Readiness(rawValue: event.ready))
  }
}
