// Owns the question whether a client runs inside of this bank's own work: below the process at a window, or below a worker that has
// come by itself. Such a client must not be waited for by what it waits for itself: a bank that closes waits for its command.
// Invariant: the kernel names the process that has connected and those above it, and its environment holds the key of its work; no
// word of the client counts. Failure: a process that cannot be looked at belongs to no work.

import BankModel
import CommandRunner
import Posix
import QueueCore
import Wire

final class OwnWork: BankPart {
  /// Whose work a client is a part of.
  struct Place: Equatable {
    /// The window, or the worker; nil for work whose process is not above the client any more.
    var window: Window?
    /// Its name; empty if that is unknown.
    var name: String
    /// The customer who is served there.
    var ticket: TicketNumber?
  }

  /// Processes above a client that are looked at.
  private static let highest = 256

  private let outside: OutsideWorkers
  /// Clients inside of work that wait for tickets, with their windows.
  private var waiters: [(session: ControlSession, window: Window)] = []

  init(_ ground: BankPart, _ outside: OutsideWorkers) {
    self.outside = outside
    super.init(ground)
  }

  /// Why a request is refused that its client would wait for for ever; nil for one that can be served.
  func refusal(of command: ControlCommand, from session: ControlSession) -> Failure? {
    // A client that asks for something else does not wait any more.
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

  /// Whether what a client has asked for is done without it: it may be what has to end first.
  func isAskedFromWithin(_ session: ControlSession) -> Bool { place(of: session) != nil }

  /// A client waits for tickets no more.
  func forget(_ session: ControlSession) { waiters.removeAll { $0.session === session } }

  private func refusal(_ asked: String, _ place: Place?) -> Failure? {
    place.map { Failure(.fromOwnWork, subject: asked, detail: Self.words($0)) }
  }

  /// The name and the number of who is served, as far as they are known: `run-1 12`.
  private static func words(_ place: Place) -> String {
    [place.name, place.ticket.map { "\($0)" } ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
  }

  // MARK: - Waiting for tickets

  /// A client waits in vain for its own ticket, and for those whom only windows could serve that all wait in this way.
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

  /// Whether every other window of a service has a command that waits already, and a customer of this service is among the tickets.
  private func isHeldUp(_ window: Window, _ tickets: ClosedRange<TicketNumber>) -> Bool {
    guard !window.isOutside else { return false }
    let others = tellerSupervisor.posts.values.filter {
      $0.window.service == window.service && $0.window != window && !$0.isGivenUp
    }
    guard others.allSatisfy({ other in waiters.contains { $0.window == other.window } }) else { return false }
    // The first and the last tell enough: a request is of one service, and of a list these two are a part.
    return [tickets.lowerBound, tickets.upperBound].contains { number in
      guard let stored = try? store.find(number), stored.state != .dead else { return false }
      return stored.customer.service == window.service
    }
  }

  // MARK: - Who asks

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
      // A worker that came by itself is waited for while it has a customer, and no longer.
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
      // A process that has lost its parents and its environment keeps the mark.
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
