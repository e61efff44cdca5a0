// Detection of clients that run inside the bank's own work: as descendants of the process at a window or of an outside
// worker. A request of such a client must not wait for the exit of the client itself: for example, a closing bank waits
// for the command of which the client is a part.
// Invariant: the kernel identifies the connected process and its ancestors, and the environment of the process contains
// the key of its work. The coordinator does not rely on anything that the client sends.
// Errors: a process that cannot be examined counts as outside of any work.

import BankModel
import CommandRunner
import Posix
import QueueCore
import Wire

final class OwnWork: BankPart {
  /// Work of which a client is a part.
  struct Place: Equatable {
    /// Window of the work; nil if its process is not an ancestor of the client any more.
    var window: Window?
    /// Name of the window; empty if unknown.
    var name: String
    /// Ticket of the customer whose work this is; nil if unknown.
    var ticket: TicketNumber?
  }

  /// Largest number of ancestors examined, and of customers whose keys are searched in the environment of a client.
  private static let highest = 256

  private let outside: OutsideWorkers
  /// Clients that are part of work at a window and wait for tickets, with their windows.
  private var waiters: [(session: ControlSession, window: Window)] = []

  init(_ ground: BankPart, _ outside: OutsideWorkers) {
    self.outside = outside
    super.init(ground)
  }

  /// Refusal of a request that would wait forever; nil if it can be served.
  func refusal(of command: ControlCommand, from session: ControlSession) -> Failure? {
    // A client that sends another request has stopped waiting.
    if !waiters.isEmpty { forget(session) }
    return switch command {
    case .stop(let order) where order.noWait != true: refusal("stop", place(of: session))
    case .reset: refusal("reset", place(of: session))
    case .awaitIdle: refusal("wait", place(of: session))
    case .awaitTickets(let day, let first, let last) where shared == nil:
      first <= last ? refusal(day, first...last, session) : nil
    default: nil
    }
  }

  /// True if the client is part of the bank's own work: its request must not wait for effects that require the
  /// exit of the client.
  func isAskedFromWithin(_ session: ControlSession) -> Bool { place(of: session) != nil }

  /// Removes a client that no longer waits for tickets.
  func forget(_ session: ControlSession) { waiters.removeAll { $0.session === session } }

  private func refusal(_ asked: String, _ place: Place?) -> Failure? {
    place.map { Failure(.fromOwnWork, subject: asked, detail: Self.words($0)) }
  }

  /// Window name and ticket of the work, as far as known, for example `run-1 12`.
  private static func words(_ place: Place) -> String {
    [place.name, place.ticket.map { "\($0)" } ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
  }

  // MARK: - Waits for tickets

  /// Refusal of a wait for the client's own ticket, or for tickets of the service at the client's window if waiting
  /// commands block all windows of this service; nil for any other wait.
  private func refusal(
    _ day: BusinessDay, _ tickets: ClosedRange<TicketNumber>, _ session: ControlSession
  ) -> Failure? {
    guard day == queue.machine.books.day, let place = place(of: session), let window = place.window else {
      return nil
    }
    let isOwn = place.ticket.map { tickets.contains($0) } ?? false
    guard isOwn || isHeldUp(window, tickets) else {
      waiters.append((session, window))
      return nil
    }
    return Failure(.fromOwnWork, subject: isOwn ? "ticket" : "tickets", detail: Self.words(place))
  }

  /// True if every other window of the service is blocked by a waiting command, and the first or the last ticket is of
  /// this service and not a dead letter.
  private func isHeldUp(_ window: Window, _ tickets: ClosedRange<TicketNumber>) -> Bool {
    guard !window.isOutside else { return false }
    let others = tellerSupervisor.posts.values.filter {
      $0.window.service == window.service && $0.window != window && !$0.isGivenUp
    }
    guard others.allSatisfy({ other in waiters.contains { $0.window == other.window } }) else { return false }
    // Only the first and the last ticket are checked. This is enough for the tickets of one request, which have
    // one service.
    return [tickets.lowerBound, tickets.upperBound].contains { number in
      guard let stored = try? store.find(number), stored.state != .dead else { return false }
      return stored.customer.service == window.service
    }
  }

  // MARK: - Location of a client

  private func place(of session: ControlSession) -> Place? {
    let pid = session.channel.peerPid
    guard pid > 1 else { return nil }
    let windows = tellerSupervisor.posts.values.filter {
      $0.pid > 0 && context.kinds[$0.window.service].leavesProcesses
    }
    let workers = outside.present
    guard !windows.isEmpty || !workers.isEmpty else { return nil }
    var above = pid
    for _ in 0..<Self.highest {
      if let post = windows.first(where: { $0.pid == above }) { return place(at: post.window) }
      // The bank waits for an outside worker only while the worker holds a customer.
      if let worker = workers.first(where: { $0.pid == above }), !worker.holding.isEmpty {
        let window = worker.places.first
        return Place(
          window: window, name: window.map { context.name(of: $0) } ?? "",
          ticket: worker.holding.keys.map(\.ticket).min())
      }
      guard above != CurrentProcess.pid, let parent = ProcessTable.parent(of: above), parent > 1 else {
        break
      }
      above = parent
    }
    guard Orphans.belongs(pid, toKeysFrom: context.booksName.prefix) else {
      // A process whose parents have exited and whose environment was cleared still has the mark.
      let isMarked = tellerSupervisor.lineage.map { lineage in
        ProcessMark.marks(of: pid).contains { $0.isKin(of: lineage.mark) }
      }
      return isMarked == true ? Place(window: nil, name: "", ticket: nil) : nil
    }
    let day = queue.machine.books.day
    let served = queue.machine.atWindows(limit: Self.highest).first { entry in
      let key = context.booksName.order(
        day: day, ticket: entry.customer.ticket, issuedAt: entry.customer.issuedAt)
      return Orphans.belongs(pid, toKey: key.text)
    }
    return served.map { place(at: $0.window) } ?? Place(window: nil, name: "", ticket: nil)
  }

  private func place(at window: Window) -> Place {
    let served = queue.machine.atWindows(limit: .max).first { $0.window == window }
    return Place(window: window, name: context.name(of: window), ticket: served?.customer.ticket)
  }
}
