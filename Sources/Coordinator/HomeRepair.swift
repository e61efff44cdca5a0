// Repair of the bank's files that are removed while the bank is open. If the database is removed, the bank stops
// serving and exits a moment later, because it could not keep its guarantees any more. If the write-ahead log is
// removed, its contents are copied to the database, and it is created again later; see `DatabaseFiles`.
// Invariants: the restoration of directories, sockets, lock and write-ahead log is retried until it succeeds. The store
// of a removed home is not closed: its file names may belong to another bank by then.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class HomeRepair: CoordinatorComponent {
  /// Time for which the bank reports that its database is gone. Meanwhile a process that removes the whole home
  /// can finish, so that no guardian opens another bank in its place.
  private static let lossReportTime = TimeSpan.milliseconds(500)

  private let windows: WindowPlan
  private let outside: OutsideWorkers
  private let webServer: WebServerProcess
  /// Watch on the files of the home; nil if the system has no free watch.
  private var watch: HomeFileWatcher?
  /// Losses reported since the last call of ``handleMissingFiles()``.
  private var newlyMissing: [HomeFileWatcher.MissingFile] = []
  /// Losses that could not be repaired at once: of the lock and of the write-ahead log.
  private var unrepaired: Set<HomeFileWatcher.MissingFile> = []
  /// Files that were lost and are not known to be restored.
  private var lostPaths: Set<String> = []
  /// Reason why no customer is served any more, and the time until which it is reported; nil while the database
  /// exists.
  private var databaseLoss: (failure: Failure, until: MonotonicTime)?

  init(
    _ dependencies: CoordinatorComponent, _ windows: WindowPlan, _ outside: OutsideWorkers,
    _ webServer: WebServerProcess
  ) {
    (self.windows, self.outside, self.webServer) = (windows, outside, webServer)
    super.init(dependencies)
  }

  private var home: BankHome { context.home }

  /// Starts to watch the files of the home. A failure is logged, and the bank works without the watch.
  func begin() {
    do throws(SystemError) {
      let watch = try HomeFileWatcher(home, on: context.loop)
      watch.onMissingFiles = { [unowned self] missingFiles in newlyMissing += missingFiles }
      self.watch = watch
    } catch { context.write(event: "home_watch_failed", level: .warn) { $0.field("msg", error.description) } }
  }

  func stop() { watch?.onMissingFiles = nil }
  var nextDeadline: MonotonicTime? { watch?.repairAt }

  /// Reacts to the loss of the database or of its write-ahead log.
  func handleMissingFiles() {
    guard !newlyMissing.isEmpty else { return }
    let missingFiles = newlyMissing
    newlyMissing.removeAll()
    if missingFiles.contains(.database) { return handleDatabaseLoss() }
    if missingFiles.contains(.log), !unrepaired.contains(.log) { rescueLog() }
  }

  /// Restores missing files, after the process that removed them has had time to finish.
  func runTimers() {
    guard let watch, let due = watch.repairAt, due <= context.now.monotonic else { return }
    let missingFiles = watch.missingFiles()
    lostPaths.formUnion(watch.missingPaths())
    if missingFiles.contains(.database) { return handleDatabaseLoss() }
    do throws(SystemError) {
      for directory in [home.run, home.logs] { try Directory.create(path: directory, recursive: false) }
      if missingFiles.contains(.output) { try Directory.create(path: home.output, recursive: false) }
      if missingFiles.contains(.socket) {
        server.stopListening()
        try server.listen(at: home.socket)
      }
      if missingFiles.contains(.workerSocket) { try outside.rebindSocket() }
      if missingFiles.contains(.inFlightTable) {
        try context.bindings.inFlightTable?.renew(at: home.inFlightTable)
      }
    } catch {
      logError(error.description)
      return watch.postpone()
    }
    if missingFiles.contains(.markerFiles) {
      windows.restoreMarkerFiles()
      webServer.restoreMarkerFile()
      tellerSupervisor.restoreCommandsMarkerFile()
      queue.storePauseReasons()
      context.bindings.restoreStoreMarkerFile()
      shared?.note?.write(at: home.sharedStoreMarkerFile)
    }
    if missingFiles.contains(.reserve) { context.bindings.renewReserve() }
    if missingFiles.contains(.logs) || missingFiles.contains(.standardError) { context.bindings.reopenLogs() }
    context.log.restore()
    let lost = unrepaired.union(missingFiles)
    if lost.contains(.lock) {
      let isNews = !unrepaired.contains(.lock)
      markUnrepaired(.lock, unless: context.bindings.retakeLock())
      if isNews, unrepaired.contains(.lock) { logError("another process has the new lock file") }
    }
    if unrepaired.contains(.log) { markUnrepaired(.log, unless: renewLog()) }
    do throws(SystemError) { try watch.remember() } catch { logError(error.description) }
    if !unrepaired.isEmpty { watch.postpone() }
    logRepair(
      of: HomeFileWatcher.MissingFile.allCases.filter { lost.contains($0) && !unrepaired.contains($0) })
  }

  /// Logs the restored files. A file that the bank itself removes, such as the socket of workers that are not
  /// configured any more, is listed only if it exists.
  private func logRepair(of repaired: [HomeFileWatcher.MissingFile]) {
    var paths: [String] = []
    for loss in repaired {
      for path in HomeFileWatcher.paths(of: loss, home) where lostPaths.remove(path) != nil {
        let isThere = ((try? FileMetadata.inspect(path, followLinks: false)) ?? nil) != nil
        if isThere || !loss.isRemovedNormally { paths.append(path) }
      }
    }
    guard !paths.isEmpty else { return }
    let names = paths.map(Paths.lastPart(of:))
    context.write(event: "home_repaired", level: .warn) {
      $0.field("msg", "removed while the bank was open, and created again: \(names.joined(separator: ", "))")
    }
  }

  /// Adds a loss to those that later repairs must handle, even if another file has the name now, or removes the loss if
  /// it is repaired.
  private func markUnrepaired(_ loss: HomeFileWatcher.MissingFile, unless isRepaired: Bool) {
    if isRepaired { unrepaired.remove(loss) } else { unrepaired.insert(loss) }
  }

  /// Copies the contents of the removed write-ahead log to the database file, now or after the open transaction.
  private func rescueLog() {
    unrepaired.insert(.log)
    context.write(event: "wal_removed", level: .error) {
      $0.field(
        "msg", "the WAL \(home.database)-wal was removed while the bank was open; it is copied and restarted"
      )
    }
    do throws(StoreError) { try context.bindings.files?.handleLogLoss() } catch { queue.fail(error) }
  }

  /// Creates the write-ahead log again. Returns false if that has to be retried later.
  private func renewLog() -> Bool {
    guard let files = context.bindings.files, queue.engine.isWorking else { return false }
    if !queue.engine.isDurable {
      queue.commit()
      queue.awaitResults()
    }
    guard queue.engine.isWorking else { return false }
    do throws(StoreError) { return try files.renewLog() } catch {
      queue.fail(error)
      return false
    }
  }

  private func logError(_ message: String) {
    context.write(event: "home_repair_failed", level: .error) { $0.field("msg", message) }
  }

  /// Gives up all guarantees. Clients receive the reason, and then the process ends; see ``flushAndExit()``.
  private func handleDatabaseLoss() {
    context.halt(with: nil)
    let message = "the database \(home.database) was removed or renamed while the bank was open"
    context.write(event: "database_removed", level: .error) { $0.field("msg", message) }
    context.log.flush()
    _ = try? StandardStreams.write("bankd: \(message)\n", to: .error)
    context.bindings.files?.abandon()
    // No customer is served any more, and messages of workers are ignored.
    tellerSupervisor.onEvent = { _, _, _ in }
    tellerSupervisor.closeAll()
    tellerSupervisor.killAll()
    serviceSupervisor.closeAll(at: context.now)
    serviceSupervisor.killAll()
    let failure = Failure(.removed, subject: home.database, detail: message)
    server.refuseAllRequests(reason: failure)
    server.onEnd = { _ in }
    databaseLoss = (failure, SystemClock.monotonic() + Self.lossReportTime)
  }

  /// Runs one iteration of a bank whose database is gone: clients receive the reason until the time is over,
  /// and then the process ends.
  func flushAndExit() {
    guard let databaseLoss else { return }
    if SystemClock.monotonic() < databaseLoss.until,
      (try? context.loop.runOnce(until: databaseLoss.until)) != nil
    {
      return server.flush()
    }
    server.close(reason: databaseLoss.failure)
    // The guardian must not create a new bank in place of the removed one.
    context.bindings.guardianSupervisor?.lost()
    context.halt(with: 1)
  }
}

/// Watch on the coordinator's files in the home, as listed in `HomeFileTable`; reports removed and renamed files.
/// Invariant: a file is identified by its inode, so it counts as missing even if another file has its name. Marker
/// files, the coordinator's log and directories count as missing only if the name does not exist.
/// Errors: SystemError if the kernel has no free watch; a bank works without one.
final class HomeFileWatcher {
  /// Entries of `HomeFileTable` that are lost and restored together.
  enum MissingFile: CaseIterable {
    case database, log, reserve, lock, inFlightTable, socket, workerSocket, heartbeatReplies, output,
      markerFiles, logs,
      standardError

    /// Files of the table that belong to this case.
    var entries: [HomeFile] { Self.table[self] ?? [] }

    private static let table: [MissingFile: [HomeFile]] = Dictionary(
      grouping: HomeFileTable.entries(of: .coordinator) + HomeFileTable.entries(of: .workers)
        + HomeFileTable.entries(of: .runner), by: MissingFile.init)

    private init(_ entry: HomeFile) {
      self =
        switch (entry.path, entry.kind, entry.remedy) {
        case (_, _, .ownerExits): .database
        case (_, _, .contentsCopied): .log
        case ("bank.db-reserve", _, _): .reserve
        case ("bank.lock", _, _): .lock
        case ("run/inflight", _, _): .inFlightTable
        case ("run/worker.sock", _, _): .workerSocket
        case ("run/answers.sock", _, _): .heartbeatReplies
        case (_, .socket, _): .socket
        case ("output", _, _): .output
        case ("logs/bankd.stderr", _, _): .standardError
        case ("run", _, _), ("logs", _, _), ("logs/coordinator.log", _, _): .logs
        default: .markerFiles
        }
    }

    /// True for files that the bank removes in regular operation.
    var isRemovedNormally: Bool {
      switch self {
      case .markerFiles, .workerSocket, .heartbeatReplies: true
      case .database, .log, .reserve, .lock, .inFlightTable, .socket, .output, .logs, .standardError: false
      }
    }

    /// Requirement on the file that has the name: the same file as before, or any file.
    fileprivate var expectation: FileIdentityWatcher.Expectation {
      switch self {
      case .markerFiles, .output, .logs: .any
      case .database, .log, .reserve, .lock, .inFlightTable, .socket, .workerSocket, .heartbeatReplies,
        .standardError:
        .same
      }
    }
  }

  var onMissingFiles: (([MissingFile]) -> Void)?

  private let home: BankHome
  private let names: FileIdentityWatcher

  /// Records the present files of the home as the expected ones.
  init(_ home: BankHome, on loop: EventLoop) throws(SystemError) {
    self.home = home
    names = try FileIdentityWatcher(in: [home.path, home.run, home.logs], on: loop)
    for loss in MissingFile.allCases { names.expect(Self.paths(of: loss, home), loss.expectation) }
    names.onMissingFiles = { [unowned self] paths in onMissingFiles?(missingFiles(in: paths)) }
    try names.remember()
  }

  /// Time at which lost files should be restored; nil if there is no loss.
  var repairAt: MonotonicTime? { names.repairAt.map { MonotonicTime(nanoseconds: $0.nanoseconds) } }
  /// Returns the kinds of files that are missing now.
  func missingFiles() -> [MissingFile] { missingFiles(in: names.missingFiles()) }
  /// Records the present files as the expected ones, so that only later removals are reported.
  func remember() throws(SystemError) { try names.remember() }
  /// Postpones the repair.
  func postpone() { names.postpone() }
  func missingPaths() -> [String] { names.missingFiles() }

  static func paths(of loss: MissingFile, _ home: BankHome) -> [String] {
    loss.entries.map { Paths.join(home.path, $0.path) }
  }

  /// Kinds to which at least one of these paths belongs.
  private func missingFiles(in paths: [String]) -> [MissingFile] {
    MissingFile.allCases.filter { loss in Self.paths(of: loss, home).contains(where: paths.contains) }
  }
}
