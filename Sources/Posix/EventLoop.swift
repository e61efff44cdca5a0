// The epoll descriptor and the handlers of its registrations; the only place at which a process waits.
// Invariant: a handler is called only for its own registration. Each registration has a generation, so an
// event is ignored if its descriptor was closed and opened again in the same batch. Errors: SystemError;
// deregistering a stale registration is never an error.
import CLinux
import Glibc
import Time

/// Waits for descriptors and calls their handlers, on one thread.
///
/// Not Sendable: call it only from the thread that runs the loop, also from within handlers. Level-triggered:
/// a handler that leaves data unread is called again. Source: `epoll(7)`.
public final class EventLoop {
  private struct Slot {
    var generation: UInt32 = 0
    var interest: Interest = []
    var handler: ((Readiness) -> Void)?
  }

  /// Called once when events are ready, before the first handler: one reading of the clock serves all of
  /// them.
  public var onWake: (() -> Void)?
  /// Time of the last poll for events.
  public private(set) var wokeAt = MonotonicTime(nanoseconds: 0)

  /// Time in which this loop was listening. Use it for deadlines of peers, so that none is blamed for time in
  /// which this process was stopped or waited for a disk.
  public private(set) var attended = AttendedTime(at: SystemClock.monotonic())
  private let epoll: FileDescriptor
  private let batch: UnsafeMutablePointer<linux_event>
  // Indexed by descriptor: numbers are small and dense, so finding a handler needs no hashing.
  private var slots: [Slot] = []
  private var isDelivering = false
  /// Consecutive busy polls without an event, and the number of following ones that are skipped because of
  /// them.
  private var vain = 0
  private var leftOut = 0
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
  /// - Parameter handler: called from ``runOnce(until:)``; it may register, modify and deregister anything.
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
    // An existing handler belongs to a descriptor that was closed without deregistering: the kernel dropped
    // it, and so does this table.
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
    // Fails only if the descriptor was closed too early, and then the kernel has dropped it already.
    _ = uninterrupted { Kernel.remove(registration.fd, from: epoll.rawValue) }
  }

  /// True if the registration is active.
  public func contains(_ registration: Registration) -> Bool {
    let index = Int(registration.fd)
    return index < slots.count && slots[index].generation == registration.generation
      && slots[index].handler != nil
  }

  /// Advances ``attended`` to a reading of the monotonic clock, without a poll since the last reading.
  public func attend(until moment: MonotonicTime) { attended.advance(to: moment) }
  /// Maximum time of one iteration that counts as attended: a fraction of the shortest timeout measured by
  /// it.
  public func attend(inStridesOf span: TimeSpan) { attended.stride = span }

  /// Handles all input that has arrived by now, without waiting. Call it before a peer is judged silent.
  ///
  /// Bounded, because peers that keep sending could block it forever.
  public func hearEverybody() throws(SystemError) {
    for _ in 0...(2 + 2 * count / Int(LINUX_EVENT_BATCH)) {
      guard try runOnce(until: wokeAt) > 0 else { return }
    }
  }

  /// Waits for events until the deadline, and calls the handlers of all that are ready.
  ///
  /// The whole batch is fetched before the first handler is called.
  /// - Parameter deadline: nil waits without a timeout, so an idle process is never woken; a time in the past
  ///   does not wait.
  /// - Returns: number of events fetched, 0 at the deadline. Some may belong to inactive registrations.
  @discardableResult
  public func runOnce(until deadline: MonotonicTime?) throws(SystemError) -> Int {
    precondition(!isDelivering, "a handler must not run the loop that called it")
    let fetched = try systemCall("epoll_wait", on: "") {
      // Inside the retry: after an interruption only the remaining time is waited for.
      Kernel.wait(in: epoll.rawValue, batch, until: deadline)
    }
    listened()
    deliver(fetched)
    return Int(fetched)
  }

  private func listened() {
    wokeAt = SystemClock.monotonic()
    attended.listened(at: wokeAt)
  }

  /// Polls repeatedly for a while, without sleeping, and calls the handlers of the first events.
  ///
  /// For a process that has just answered a peer that will answer in turn: sleeping and being woken costs
  /// both of them more than this wait. Other processes can use this core meanwhile. After polls without an
  /// event the function is skipped more and more often: after one in vain every second time, in the end all
  /// but every thirty-second time. `sched_yield(2)`
  /// - Parameters:
  ///   - span: duration; zero polls once.
  ///   - ask: polls only the peer that is expected to answer, without waiting, and returns true for an
  ///     answer. During the span no other input is read. nil polls all registrations.
  /// - Returns: number of events fetched, 0 after the span.
  public func runAwake(for span: TimeSpan, asking ask: (() -> Bool)? = nil) throws(SystemError) -> Int {
    precondition(!isDelivering, "a handler must not run the loop that called it")
    let isLeftOut = leftOut > 0 || span <= .zero
    // Set only if no event was ready at once: usually one is, and then the clock need not be read.
    var end: MonotonicTime?
    while true {
      if let ask {
        listened()
        isDelivering = true
        let isAnswered = ask()
        isDelivering = false
        if isAnswered {
          (vain, leftOut) = (0, 0)
          return 1
        }
        if isEarly(&end, isLeftOut ? .zero : span) {
          Kernel.giveWay()
          continue
        }
      }
      let fetched = try systemCall("epoll_wait", on: "") { Kernel.look(in: epoll.rawValue, batch) }
      listened()
      if fetched > 0 {
        (vain, leftOut) = (0, 0)
        deliver(fetched)
        return Int(fetched)
      }
      guard isEarly(&end, isLeftOut ? .zero : span) else { break }
      Kernel.giveWay()
    }
    if !isLeftOut {
      vain = min(vain + 1, 5)
      leftOut = 1 << vain - 1
    } else if leftOut > 0 {
      leftOut -= 1
    }
    return 0
  }

  /// True until `span` has passed since the first call.
  private func isEarly(_ end: inout MonotonicTime?, _ span: TimeSpan) -> Bool {
    if let end { return wokeAt < end }
    end = wokeAt + span
    return span > .zero
  }

  private func deliver(_ fetched: CInt) {
    isDelivering = true
    defer { isDelivering = false }
    if fetched > 0 { onWake?() }
    for index in 0..<Int(fetched) { deliver(batch[index]) }
  }

  private func deliver(_ event: linux_event) {
    let registration = Registration(token: event.token)
    // Kept in a local variable, because the handler may deregister itself while it runs.
    guard contains(registration), let handler = slots[Int(registration.fd)].handler else { return }
    handler(Readiness(rawValue: event.ready))
  }
}
