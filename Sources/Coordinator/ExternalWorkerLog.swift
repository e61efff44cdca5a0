// Logs of workers that keep no log themselves: programs that are not of this build.
// The coordinator writes these logs.

import BankModel
import Logging
import Posix
import QueueCore
import Time

final class ExternalWorkerLog {
  private struct Entry {
    var file: LogFile
    var generation: Generation
    /// Start times of the attempts in flight.
    var began: [Lease: MonotonicTime] = [:]
  }

  private unowned let context: BankContext
  private var entries: [Window: Entry] = [:]
  /// Generations of workers whose log could not be opened; the failure was logged.
  private var logless: [Window: Generation] = [:]

  init(_ context: BankContext) { self.context = context }

  /// Logs that a worker is ready.
  ///
  /// - Parameter servedWindows: Windows of the worker; the first one names its log.
  func open(_ servedWindows: [Window], _ generation: Generation, pid: Int32) {
    guard let file = file(servedWindows, generation, pid: pid) else { return }
    file.write(event: "ready", at: context.now) { $0.field("service", service(of: servedWindows[0])) }
  }

  /// Logs output that a worker program has written outside its channel, perhaps before it was ready.
  func note(_ output: TellerSupervisor.OutputLine, at window: Window, _ generation: Generation, pid: Int32) {
    guard let file = file([window], generation, pid: pid) else { return }
    switch output {
    case .line(let bytes): file.write(event: "output") { $0.field("msg", bytes: bytes) }
    case .omitted(let count): file.write(event: "output_dropped", level: .warn) { $0.field("count", count) }
    }
  }

  /// Log of a worker of this generation, opened with its first line; nil if it cannot be opened.
  private func file(_ servedWindows: [Window], _ generation: Generation, pid: Int32) -> LogFile? {
    if let entry = entries[servedWindows[0]], entry.generation == generation { return entry.file }
    guard logless[servedWindows[0]] != generation else { return nil }
    let name = context.name(of: servedWindows[0])
    let settings = context.configuration.log
    do throws(SystemError) {
      let file = try LogFile(
        path: context.home.log(of: name), worker: name, pid: pid, generation: generation,
        limit: settings.rotateBytes, keep: settings.keep)
      for place in servedWindows { entries[place] = Entry(file: file, generation: generation) }
      logless[servedWindows[0]] = nil
      return file
    } catch {
      logless[servedWindows[0]] = generation
      context.write(event: "log_open_failed", level: .error) {
        $0.field("worker_name", name)
        $0.field("msg", error.description)
      }
      return nil
    }
  }

  /// Logs that a worker has exited or disconnected.
  func close(_ servedWindows: [Window], _ reason: String) {
    guard let file = servedWindows.lazy.compactMap({ self.entries[$0]?.file }).first else { return }
    file.write(event: "exit", at: context.now) { $0.field("reason", reason) }
    file.flush()
    for place in servedWindows { entries[place] = nil }
  }

  /// Logs that an attempt has started or was completed, if customers are to be logged.
  func announce(
    _ phase: CustomerEvent, _ window: Window, _ lease: Lease, _ customer: Customer, day: BusinessDay
  ) {
    guard !entries.isEmpty, let entry = entries[window] else { return }
    let isLogged = context.configuration.log.customers
    switch phase {
    case .started:
      entries[window]?.began[lease] = context.now.monotonic
      guard isLogged else { return }
      let words = StringCatalog(context.language).started(
        ticket: customer.ticket, priority: customer.priority, service: name(of: window))
      entry.file.write(event: "started", at: context.now) {
        fill(&$0, day, lease, customer.priority, window)
        $0.field("msg", words)
      }
    case .completed:
      let began = entries[window]?.began.removeValue(forKey: lease)
      guard isLogged else { return }
      let words = StringCatalog(context.language).completed(
        ticket: customer.ticket, priority: customer.priority, service: name(of: window))
      entry.file.write(event: "completed", at: context.now) {
        fill(&$0, day, lease, customer.priority, window)
        if let began { $0.field("took_ms", context.now.monotonic.since(began).milliseconds) }
        $0.field("msg", words)
      }
    case .interrupted: entries[window]?.began[lease] = nil
    }
  }

  /// Logs an attempt that ended without a receipt.
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

  /// Time at which buffered lines are to be written; nil if there are none.
  var nextFlush: MonotonicTime? { entries.values.reduce(nil) { .earlier($0, $1.file.nextFlush) } }
  /// Writes the buffered lines of each log whose time to be written has come.
  func flushIfDue(_ now: MonotonicTime) { for entry in entries.values { entry.file.flushIfDue(now) } }
  func flush() { for entry in entries.values { entry.file.flush() } }

  private func name(of window: Window) -> ServiceName { context.services.directory[window.service] }
  private func service(of window: Window) -> String { name(of: window).text }

  /// Adds the fields of a line about a started or completed attempt.
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
