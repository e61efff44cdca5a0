// Detection of clients that run inside the bank's own work: as descendants of the process at a window or of an outside
// worker. A request of such a client must not wait for the exit of the client itself: for example, a closing bank waits
// for the command of which the client is a part.
// Invariant: the coordinator relies on what the kernel reports about the connected process (its ancestors, environment
// and mark), and not on anything that the client sends.
// Errors: a process that cannot be examined counts as outside of any work.

import BankModel
import CommandRunner
import Posix
import QueueCore
import Wire

/// Refuses requests that would wait for the work of which their client is a part.
final class SelfWaitGuard: CoordinatorComponent {
  /// Work of which a client is a part.
  struct EnclosingWork: Equatable {
    /// Window of the work; nil if unknown.
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

  init(_ dependencies: CoordinatorComponent, _ outside: OutsideWorkers) {
    self.outside = outside
    super.init(dependencies)
  }

  /// Refusal of a request that would wait for its own client; nil if it can be served.
  func refusal(of command: ControlCommand, from session: ControlSession) -> Failure? {
    // A client that sends another request has stopped waiting.
    if !waiters.isEmpty { forget(session) }
    return switch command {
    case .stop(let order) where order.noWait != true: refusal("stop", enclosingWork(of: session))
    case .reset: refusal("reset", enclosingWork(of: session))
    case .awaitIdle: refusal("wait", enclosingWork(of: session))
    case .awaitTickets(let day, let first, let last) where shared == nil:
      first <= last ? refusal(day, first...last, session) : nil
    default: nil
    }
  }

  /// True if the client is part of the bank's own work: its request must not wait for effects that require the
  /// exit of the client.
  func isFromOwnWork(_ session: ControlSession) -> Bool { enclosingWork(of: session) != nil }

  /// Removes a client that no longer waits for tickets.
  func forget(_ session: ControlSession) { waiters.removeAll { $0.session === session } }

  /// Refusal of a request because its client is part of this work; nil if there is no such work.
  private func refusal(_ asked: String, _ enclosingWork: EnclosingWork?) -> Failure? {
    enclosingWork.map { Failure(.fromOwnWork, subject: asked, detail: Self.text($0)) }
  }

  /// Window name and ticket of the work, as far as known, for example `run-1 12`.
  private static func text(_ enclosingWork: EnclosingWork) -> String {
    [enclosingWork.name, enclosingWork.ticket.map { "\($0)" } ?? ""].filter { !$0.isEmpty }.joined(
      separator: " ")
  }

  // MARK: - Waits for tickets

  /// Refusal of a wait for the client's own ticket, or for tickets of the service at the client's window if waiting
  /// commands block all windows of this service; nil for any other wait.
  private func refusal(
    _ day: BusinessDay, _ tickets: ClosedRange<TicketNumber>, _ session: ControlSession
  ) -> Failure? {
    guard day == queue.machine.dayCounters.day, let enclosingWork = enclosingWork(of: session),
      let window = enclosingWork.window
    else {
      return nil
    }
    let isOwn = enclosingWork.ticket.map { tickets.contains($0) } ?? false
    guard isOwn || isBlockedByWaits(window, tickets) else {
      waiters.append((session, window))
      return nil
    }
    return Failure(.fromOwnWork, subject: isOwn ? "ticket" : "tickets", detail: Self.text(enclosingWork))
  }

  /// True if all other windows of the service that were not given up are blocked by waiting commands, and the first or
  /// the last ticket is of this service and not a dead letter.
  private func isBlockedByWaits(_ window: Window, _ tickets: ClosedRange<TicketNumber>) -> Bool {
    guard !window.isOutside else { return false }
    let others = tellerSupervisor.slots.values.filter {
      $0.window.service == window.service && $0.window != window && !$0.isGivenUp
    }
    guard others.allSatisfy({ other in waiters.contains { $0.window == other.window } }) else { return false }
    // Only the first and the last ticket are checked.
    return [tickets.lowerBound, tickets.upperBound].contains { number in
      guard let stored = try? store.find(number), stored.state != .dead else { return false }
      return stored.customer.service == window.service
    }
  }

  // MARK: - Location of a client

  /// Work of which the process of a client is a part; nil if there is none.
  private func enclosingWork(of session: ControlSession) -> EnclosingWork? {
    let pid = session.channel.peerPid
    guard pid > 1 else { return nil }
    let windows = tellerSupervisor.slots.values.filter {
      $0.pid > 0 && context.kinds[$0.window.service].mayLeaveProcesses
    }
    let workers = outside.present
    guard !windows.isEmpty || !workers.isEmpty else { return nil }
    var above = pid
    for _ in 0..<Self.highest {
      if let slot = windows.first(where: { $0.pid == above }) { return enclosingWork(at: slot.window) }
      // The bank waits for an outside worker only while the worker holds a customer.
      if let worker = workers.first(where: { $0.pid == above }), !worker.holding.isEmpty {
        let window = worker.servedWindows.first
        return EnclosingWork(
          window: window, name: window.map { context.name(of: $0) } ?? "",
          ticket: worker.holding.keys.map(\.ticket).min())
      }
      guard above != CurrentProcess.pid, let parent = ProcessTable.parent(of: above), parent > 1 else {
        break
      }
      above = parent
    }
    guard Orphans.belongs(pid, toKeysFrom: context.bankID.prefix) else {
      // A process whose parents have exited and whose environment was cleared still has the mark of this home.
      let isMarked = tellerSupervisor.processIdentity.map { processIdentity in
        ProcessMark.marks(of: pid).contains { $0.sharesOwner(of: processIdentity.mark) }
      }
      return isMarked == true ? EnclosingWork(window: nil, name: "", ticket: nil) : nil
    }
    let day = queue.machine.dayCounters.day
    let served = queue.machine.atWindows(limit: Self.highest).first { entry in
      let key = context.bankID.order(
        day: day, ticket: entry.customer.ticket, issuedAt: entry.customer.issuedAt)
      return Orphans.belongs(pid, toKey: key.text)
    }
    return served.map { enclosingWork(at: $0.window) } ?? EnclosingWork(window: nil, name: "", ticket: nil)
  }

  /// Work at a window, with its ticket if it has a customer.
  private func enclosingWork(at window: Window) -> EnclosingWork {
    let served = queue.machine.atWindows(limit: .max).first { $0.window == window }
    return EnclosingWork(window: window, name: context.name(of: window), ticket: served?.customer.ticket)
  }
}
