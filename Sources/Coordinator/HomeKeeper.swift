// Repair of the bank's files that are removed while the bank is open. If the database is removed, the bank stops
// serving at once and exits a moment later, because it could not keep its guarantees any more. If the write-ahead
// log is removed, its contents are copied to the database at once, and it is created again a moment later; see
// `DatabaseFiles`.
// Invariants: the restoration of directories, sockets, lock and write-ahead log is retried until it succeeds.
// Without the database no guarantee is given, and the store of a removed home is never closed: its file names may
// belong to another bank by then.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class HomeKeeper: BankPart {
  /// Time for which the bank reports that its database is gone. Meanwhile a process that removes the whole home
  /// can finish, so that no guardian opens another bank in its place.
  private static let farewell = TimeSpan.milliseconds(500)

  private let windows: WindowPlan
  private let outside: OutsideWorkers
  private let page: PageServer
  /// Watch on the files of the home; nil if the system has no free watch.
  private var watch: HomeWatch?
  /// Recent losses, and losses that could not be repaired at once: the lock and the database's log.
  private var freshLosses: [HomeWatch.Loss] = []
  private var owed: Set<HomeWatch.Loss> = []
  /// Files that were lost and are not known to be restored.
  private var lostPaths: Set<String> = []
  /// Reason why no customer is served any more, and the time until which it is reported; nil while the database
  /// exists.
  private var leave: (failure: Failure, until: MonotonicTime)?

  init(_ ground: BankPart, _ windows: WindowPlan, _ outside: OutsideWorkers, _ page: PageServer) {
    (self.windows, self.outside, self.page) = (windows, outside, page)
    super.init(ground)
  }

  private var home: BankHome { context.home }

  func begin() {
    do throws(SystemError) {
      let watch = try HomeWatch(home, on: context.loop)
      watch.onLoss = { [unowned self] losses in freshLosses += losses }
      self.watch = watch
    } catch { context.write(event: "home_watch_failed", level: .warn) { $0.field("msg", error.description) } }
  }

  /// Ignores all further losses.
  func stop() { watch?.onLoss = nil }
  var nextDeadline: MonotonicTime? { watch?.repairAt }

  func meetLosses() {
    guard !freshLosses.isEmpty else { return }
    let losses = freshLosses
    freshLosses.removeAll()
    if losses.contains(.database) { return databaseIsGone() }
    if losses.contains(.log), !owed.contains(.log) { rescueLog() }
  }

  /// Restores missing files, after the process that removed them has had time to finish.
  func keepTime() {
    guard let watch, let due = watch.repairAt, due <= context.now.monotonic else { return }
    let losses = watch.losses()
    lostPaths.formUnion(watch.lostPaths())
    if losses.contains(.database) { return databaseIsGone() }
    do throws(SystemError) {
      for directory in [home.run, home.logs] { try Directory.create(path: directory, recursive: false) }
      if losses.contains(.output) { try Directory.create(path: home.output, recursive: false) }
      if losses.contains(.socket) {
        server.stopListening()
        try server.listen(at: home.socket)
      }
      if losses.contains(.workerSocket) { try outside.listenAgain() }
      if losses.contains(.hands) { try context.bindings.hands?.renew(at: home.hands) }
    } catch {
      noteTrouble(error.description)
      return watch.putOff()
    }
    if losses.contains(.notes) {
      windows.keepNotes()
      page.keepNote()
      tellerSupervisor.keepCommandsNote()
      queue.keepPauseReasons()
      context.bindings.renewStoreNote()
      shared?.note?.keep(at: home.booksNote)
    }
    if losses.contains(.reserve) { context.bindings.renewReserve() }
    if losses.contains(.logs) || losses.contains(.standardError) { context.bindings.renewLogs() }
    context.log.restore()
    let lost = owed.union(losses)
    if lost.contains(.lock) {
      let isNews = !owed.contains(.lock)
      owe(.lock, unless: context.bindings.retakeLock())
      if isNews, owed.contains(.lock) { noteTrouble("another process has the new lock file") }
    }
    if owed.contains(.log) { owe(.log, unless: renewLog()) }
    do throws(SystemError) { try watch.remember() } catch { noteTrouble(error.description) }
    if !owed.isEmpty { watch.putOff() }
    noteRepair(of: HomeWatch.Loss.allCases.filter { lost.contains($0) && !owed.contains($0) })
  }

  /// Logs the restored files. A file that the bank itself removes, such as the socket of workers that are not
  /// configured any more, is listed only if it exists.
  private func noteRepair(of mended: [HomeWatch.Loss]) {
    var paths: [String] = []
    for loss in mended {
      for path in HomeWatch.paths(of: loss, home) where lostPaths.remove(path) != nil {
        let isThere = ((try? FileFacts.inspect(path, followLinks: false)) ?? nil) != nil
        if isThere || !loss.mayEndByItself { paths.append(path) }
      }
    }
    guard !paths.isEmpty else { return }
    let names = paths.map(Paths.lastPart(of:))
    context.write(event: "home_repaired", level: .warn) {
      $0.field("msg", "removed while the bank was open, and created again: \(names.joined(separator: ", "))")
    }
  }

  /// Keeps a loss for later repairs, even if another file has the name now.
  private func owe(_ loss: HomeWatch.Loss, unless isMended: Bool) {
    if isMended { owed.remove(loss) } else { owed.insert(loss) }
  }

  /// Copies the contents of the removed write-ahead log to the database file, now or after the open transaction.
  private func rescueLog() {
    owed.insert(.log)
    context.write(event: "wal_removed", level: .error) {
      $0.field(
        "msg", "the WAL \(home.database)-wal was removed while the bank was open; it is copied and restarted"
      )
    }
    do throws(StoreError) { try context.bindings.files?.logIsLost() } catch { queue.fail(error) }
  }

  private func renewLog() -> Bool {
    guard let files = context.bindings.files, queue.engine.isWorking else { return false }
    if !queue.engine.isKept {
      queue.commit()
      queue.awaitResults()
    }
    guard queue.engine.isWorking else { return false }
    do throws(StoreError) { return try files.renewLog() } catch {
      queue.fail(error)
      return false
    }
  }

  private func noteTrouble(_ words: String) {
    context.write(event: "home_repair_failed", level: .error) { $0.field("msg", words) }
  }

  /// Gives up all guarantees. Clients receive the reason, and then the process ends; see ``sayFarewell()``.
  private func databaseIsGone() {
    context.cutOff(with: nil)
    let words = "the database \(home.database) was removed or renamed while the bank was open"
    context.write(event: "database_removed", level: .error) { $0.field("msg", words) }
    context.log.flush()
    _ = try? StandardStreams.write("bankd: \(words)\n", to: .error)
    context.bindings.files?.abandon()
    // No customer is served any more, and messages of workers are ignored.
    tellerSupervisor.onEvent = { _, _, _ in }
    tellerSupervisor.closeAll()
    tellerSupervisor.killAll()
    serviceSupervisor.closeAll(at: context.now)
    serviceSupervisor.killAll()
    let failure = Failure(.removed, subject: home.database, detail: words)
    server.turnEverybodyAway(saying: failure)
    server.onEnd = { _ in }
    leave = (failure, SystemClock.monotonic() + Self.farewell)
  }

  /// Runs one iteration of a bank whose database is gone: clients receive the reason until the time is over,
  /// and then the process ends.
  func sayFarewell() {
    guard let leave else { return }
    if SystemClock.monotonic() < leave.until, (try? context.loop.runOnce(until: leave.until)) != nil {
      return server.flush()
    }
    server.close(saying: leave.failure)
    // The guardian must not create a new bank in place of the removed one.
    context.bindings.guardianship?.lost()
    context.cutOff(with: 1)
  }
}

/// Watch on the coordinator's files in the home, as listed in `HomeTable`; reports removed and renamed files.
/// Invariant: a file is identified by its inode, so another file with its name counts as missing. Marker files, logs
/// and the output directory are replaced in regular operation, and count as missing only if the name does not exist.
/// Errors: SystemError if the kernel has no free watch; a bank works without one.
final class HomeWatch {
  /// Entries of `HomeTable` that are lost and restored together.
  enum Loss: CaseIterable {
    case database, log, reserve, lock, hands, socket, workerSocket, answers, output, notes, logs,
      standardError

    var entries: [HomeEntry] { Self.table[self] ?? [] }

    private static let table: [Loss: [HomeEntry]] = Dictionary(
      grouping: HomeTable.entries(of: .coordinator) + HomeTable.entries(of: .workers)
        + HomeTable.entries(of: .runner), by: Loss.init)

    private init(_ entry: HomeEntry) {
      self =
        switch (entry.path, entry.kind, entry.remedy) {
        case (_, _, .ends): .database
        case (_, _, .rescued): .log
        case ("bank.db-reserve", _, _): .reserve
        case ("bank.lock", _, _): .lock
        case ("run/hands", _, _): .hands
        case ("run/worker.sock", _, _): .workerSocket
        case ("run/answers.sock", _, _): .answers
        case (_, .socket, _): .socket
        case ("output", _, _): .output
        case ("logs/bankd.stderr", _, _): .standardError
        case ("run", _, _), ("logs", _, _), ("logs/coordinator.log", _, _): .logs
        default: .notes
        }
    }

    /// True for files that the bank removes in regular operation.
    var mayEndByItself: Bool {
      switch self {
      case .notes, .workerSocket, .answers: true
      case .database, .log, .reserve, .lock, .hands, .socket, .output, .logs, .standardError: false
      }
    }

    fileprivate var expectation: NameWatch.Expectation {
      switch self {
      case .notes, .output, .logs: .any
      case .database, .log, .reserve, .lock, .hands, .socket, .workerSocket, .answers, .standardError: .same
      }
    }
  }

  /// Called with the missing files as soon as they are missing.
  var onLoss: (([Loss]) -> Void)?

  private let home: BankHome
  private let names: NameWatch

  /// Records the present files of the home as the expected ones.
  init(_ home: BankHome, on loop: EventLoop) throws(SystemError) {
    self.home = home
    names = try NameWatch(in: [home.path, home.run, home.logs], on: loop)
    for loss in Loss.allCases { names.expect(Self.paths(of: loss, home), loss.expectation) }
    names.onLoss = { [unowned self] paths in onLoss?(losses(in: paths)) }
    try names.remember()
  }

  var repairAt: MonotonicTime? { names.repairAt.map { MonotonicTime(nanoseconds: $0.nanoseconds) } }
  func losses() -> [Loss] { losses(in: names.losses()) }
  /// Records the present files as the expected ones.
  func remember() throws(SystemError) { try names.remember() }
  /// Postpones the repair, because it failed.
  func putOff() { names.putOff() }
  func lostPaths() -> [String] { names.losses() }

  static func paths(of loss: Loss, _ home: BankHome) -> [String] {
    loss.entries.map { Paths.join(home.path, $0.path) }
  }

  private func losses(in paths: [String]) -> [Loss] {
    Loss.allCases.filter { loss in Self.paths(of: loss, home).contains(where: paths.contains) }
  }
}
