// Owns the logs of workers that keep none themselves: programs that are not of this build. What tellers write of their
// customers is written here for them, as far as the queue sees it, so that every window has a log that can be followed.
// Invariant: the names of events and fields are those of a teller's log. Failure: a log that cannot be opened is said once, and
// nobody waits for it: customers come first.

import BankModel
import Logbook
import Posix
import QueueCore
import Time

final class WorkerJournal {
  private struct Entry {
    var file: LogFile
    var generation: Generation
    /// Since when its customers are in its hands.
    var began: [Lease: MonotonicTime] = [:]
  }

  private unowned let context: BankContext
  private var entries: [Window: Entry] = [:]
  /// Workers without a log, so that each is reported once.
  private var logless: [Window: Generation] = [:]

  init(_ context: BankContext) { self.context = context }

  /// A worker is ready.
  ///
  /// - Parameter places: where it serves; the first names its log.
  func open(_ places: [Window], _ generation: Generation, pid: Int32) {
    guard let file = file(places, generation, pid: pid) else { return }
    file.write(event: "ready", at: context.now) { $0.field("service", service(of: places[0])) }
  }

  /// A worker program has written something beside its channel, perhaps before it was ready.
  func note(_ spoken: TellerSupervisor.SpokenLine, at window: Window, _ generation: Generation, pid: Int32) {
    guard let file = file([window], generation, pid: pid) else { return }
    switch spoken {
    case .line(let bytes): file.write(event: "said") { $0.field("msg", bytes: bytes) }
    case .omitted(let count): file.write(event: "said_dropped", level: .warn) { $0.field("count", count) }
    }
  }

  /// The log of a worker of this generation, which is opened with its first line.
  private func file(_ places: [Window], _ generation: Generation, pid: Int32) -> LogFile? {
    if let entry = entries[places[0]], entry.generation == generation { return entry.file }
    guard logless[places[0]] != generation else { return nil }
    let name = context.name(of: places[0])
    let settings = context.configuration.log
    do throws(SystemError) {
      let file = try LogFile(
        path: context.home.log(of: name), worker: name, pid: pid, generation: generation,
        limit: settings.rotateBytes, keep: settings.keep)
      for place in places { entries[place] = Entry(file: file, generation: generation) }
      logless[places[0]] = nil
      return file
    } catch {
      logless[places[0]] = generation
      context.write(event: "log_failed", level: .error) {
        $0.field("worker_name", name)
        $0.field("msg", error.description)
      }
      return nil
    }
  }

  /// A worker has gone.
  func close(_ places: [Window], _ reason: String) {
    guard let file = places.lazy.compactMap({ self.entries[$0]?.file }).first else { return }
    file.write(event: "exit", at: context.now) { $0.field("reason", reason) }
    file.flush()
    for place in places { entries[place] = nil }
  }

  func announce(
    _ happening: Happening, _ window: Window, _ lease: Lease, _ customer: Customer, day: BusinessDay
  ) {
    guard !entries.isEmpty, let entry = entries[window] else { return }
    let isLogged = context.configuration.log.customers
    switch happening {
    case .started:
      entries[window]?.began[lease] = context.now.monotonic
      guard isLogged else { return }
      let words = Phrasebook(context.language).started(
        ticket: customer.ticket, priority: customer.priority, service: name(of: window))
      entry.file.write(event: "started", at: context.now) {
        fill(&$0, day, lease, customer.priority, window)
        $0.field("msg", words)
      }
    case .completed:
      let began = entries[window]?.began.removeValue(forKey: lease)
      guard isLogged else { return }
      let words = Phrasebook(context.language).completed(
        ticket: customer.ticket, priority: customer.priority, service: name(of: window))
      entry.file.write(event: "completed", at: context.now) {
        fill(&$0, day, lease, customer.priority, window)
        if let began { $0.field("took_ms", context.now.monotonic.since(began).milliseconds) }
        $0.field("msg", words)
      }
    case .interrupted: entries[window]?.began[lease] = nil
    }
  }

  /// An attempt has ended without a receipt.
  func note(_ attempt: Attempt) {
    guard !entries.isEmpty, let entry = entries[attempt.window] else { return }
    let (event, level): (StaticString, LogLevel) =
      switch attempt.end {
      case .recalled: ("recalled", .info)
      case .deferred: ("failed", .info)
      case .served, .failed, .killed, .leaseExpired, .lost: ("failed", .error)
      }
    entry.file.write(event: event, level: level, at: context.now) {
      $0.field("day", attempt.day)
      $0.field("ticket", attempt.ticket)
      $0.field("service", service(of: attempt.window))
      $0.field("attempt", attempt.number)
      $0.field("end", attempt.end.name)
      if !attempt.words.isEmpty { $0.field("reason", attempt.words.prefix { !$0.isNewline }.description) }
    }
  }

  /// When lines are to be written that wait; nil while none does.
  var nextFlush: MonotonicTime? { entries.values.reduce(nil) { .earlier($0, $1.file.nextFlush) } }
  func flushIfDue(_ now: MonotonicTime) { for entry in entries.values { entry.file.flushIfDue(now) } }
  func flush() { for entry in entries.values { entry.file.flush() } }

  private func name(of window: Window) -> ServiceName { context.services.directory[window.service] }
  private func service(of window: Window) -> String { name(of: window).text }

  private func fill(
    _ fields: inout LogFields, _ day: BusinessDay, _ lease: Lease, _ priority: Priority, _ window: Window
  ) {
    fields.field("day", day)
    fields.field("ticket", lease.ticket)
    fields.field("service", service(of: window))
    if priority != .regular { fields.field("priority", Int64(priority.number)) }
    fields.field("attempt", lease.attempt)
  }
}
