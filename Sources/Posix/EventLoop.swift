// Owns the epoll descriptor and who is told when a descriptor becomes ready; the only place where a process
// waits. Invariant: a handler is called only for the registration it was given with. Each registration has a
// generation, so an event that was fetched for a descriptor closed and opened again in the same batch falls
// on nobody. Failure: SystemError; a stale registration is never an error when it is taken out.
import CLinux
import Glibc
import Time

/// Waits for descriptors and calls their handlers, on one thread.
///
/// Not Sendable: everything is called from the thread that runs the loop, also from within handlers.
/// Level-triggered: whoever leaves data behind is told again. Source: `epoll(7)`.
public final class EventLoop {
  private struct Slot {
    var generation: UInt32 = 0
    var interest: Interest = []
    var handler: ((Readiness) -> Void)?
  }

  /// Called once when something is ready, before the first handler: the moment to read the clock for all of them.
  public var onWake: (() -> Void)?
  /// When events were last fetched, or looked for in vain.
  public private(set) var wokeAt = MonotonicTime(nanoseconds: 0)

  /// The time in which this loop has listened: whoever waits for a word of others takes deadlines from it, so that
  /// nobody is blamed for the time in which this process was stopped or waited for a disk.
  public private(set) var attended = AttendedTime(at: SystemClock.monotonic())
  private let epoll: FileDescriptor
  private let batch: UnsafeMutablePointer<linux_event>
  // Indexed by descriptor: numbers are small and dense, so finding a handler needs no hashing.
  private var slots: [Slot] = []
  private var isDelivering = false
  /// Waits awake that were in vain, one after the other, and how many of the next are left out because of them.
  private var vain = 0
  private var leftOut = 0
  /// How many registrations there are.
  public private(set) var count = 0

  /// Makes a loop that watches nothing. `epoll_create1(2)`
  public init() throws(SystemError) {
    epoll = try FileDescriptor("epoll_create1") { Kernel.makeEpoll() }
    batch = .allocate(capacity: Int(LINUX_EVENT_BATCH))
  }

  deinit { batch.deallocate() }

  /// Watches a descriptor. `epoll_ctl(2)` EPOLL_CTL_ADD
  ///
  /// The caller keeps the descriptor and takes the registration out before closing it. A peer that hangs up
  /// and errors are reported whatever the interest is.
  /// - Parameter handler: called from ``runOnce(until:)``; it may register, modify and deregister anything.
  /// - Throws: EEXIST for a descriptor that is registered already, EPERM for a file, which nobody can wait for.
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
    // A handler that is still here is of a descriptor closed without a word: the kernel forgot it, and so do we.
    if slots[index].handler == nil { count += 1 }
    slots[index] = Slot(generation: generation, interest: interest, handler: handler)
    return registration
  }

  /// Changes what a registration waits for; costs nothing where that is what it waits for already.
  /// `epoll_ctl(2)` EPOLL_CTL_MOD
  ///
  /// The registration must be in force.
  public func modify(_ registration: Registration, interest: Interest) throws(SystemError) {
    precondition(contains(registration), "the registration of descriptor \(registration.fd) is not in force")
    let index = Int(registration.fd)
    guard slots[index].interest != interest else { return }
    try systemCall("epoll_ctl", on: registration.fd) {
      Kernel.modify($0, in: epoll.rawValue, interest, token: registration.token)
    }
    slots[index].interest = interest
  }

  /// Stops watching; its handler is called no more, not even for an event that was fetched already.
  ///
  /// Taking out what is not in force does nothing. `epoll_ctl(2)` EPOLL_CTL_DEL
  public func deregister(_ registration: Registration) {
    guard contains(registration) else { return }
    slots[Int(registration.fd)].handler = nil
    slots[Int(registration.fd)].interest = []
    count -= 1
    // It fails only where the descriptor was closed too early, and then the kernel has forgotten it already.
    _ = uninterrupted { Kernel.remove(registration.fd, from: epoll.rawValue) }
  }

  /// Whether the registration is in force.
  public func contains(_ registration: Registration) -> Bool {
    let index = Int(registration.fd)
    return index < slots.count && slots[index].generation == registration.generation
      && slots[index].handler != nil
  }

  /// Brings ``attended`` up to a reading of the steady clock within a turn, in which nobody was heard since the last.
  public func attend(until moment: MonotonicTime) { attended.advance(to: moment) }
  /// The most of one turn that counts as attended; a fraction of the shortest patience that is taken from it.
  public func attend(inStridesOf span: TimeSpan) { attended.stride = span }

  /// Hears everybody who has said something by now, without waiting: what comes before somebody is judged.
  ///
  /// Bounded, because those who go on talking could hold it up for ever.
  public func hearEverybody() throws(SystemError) {
    for _ in 0...(2 + 2 * count / Int(LINUX_EVENT_BATCH)) {
      guard try runOnce(until: wokeAt) > 0 else { return }
    }
  }

  /// Waits until something is ready or the deadline has come, and calls the handlers of all that is ready.
  ///
  /// The whole batch is fetched before the first handler is called.
  /// - Parameter deadline: nil waits for ever, so an idle process is never woken; one in the past does not
  ///   wait.
  /// - Returns: the number of events fetched, 0 when the deadline came first. Some may have fallen on nobody.
  @discardableResult
  public func runOnce(until deadline: MonotonicTime?) throws(SystemError) -> Int {
    precondition(!isDelivering, "a handler must not run the loop that called it")
    let fetched = try systemCall("epoll_wait", on: "") {
      // Inside the retry: after an interruption only what is left of the time may be waited for.
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

  /// Asks for what is ready, again and again for a while, without sleeping, and calls the handlers of the first that
  /// comes.
  ///
  /// For a process that has just answered somebody who will answer in turn: to fall asleep and to be woken costs both
  /// of them more than the wait. Who else wants to run on this core runs meanwhile. Where nothing came in that time,
  /// it is waited for less and less often: after one wait in vain every second time, in the end every thirty-second.
  /// `sched_yield(2)`
  /// - Parameters:
  ///   - span: zero looks once.
  ///   - ask: asks the one who is to answer, without waiting, and says whether there was an answer; for as long as the
  ///     span lasts nobody else is heard. nil hears everybody all the time.
  /// - Returns: the number of events fetched, 0 when the time was over.
  public func runAwake(for span: TimeSpan, asking ask: (() -> Bool)? = nil) throws(SystemError) -> Int {
    precondition(!isDelivering, "a handler must not run the loop that called it")
    let isLeftOut = leftOut > 0 || span <= .zero
    // Set when nothing was there at once: most of the time something is, and the clock need not be read for it.
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

  /// Whether the time is not over that began when this was asked first.
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
    // Held in a local, because the handler may take its own registration out while it runs.
    guard contains(registration), let handler = slots[Int(registration.fd)].handler else { return }
    handler(Readiness(rawValue: event.ready))
  }
}
