// Owns what is done when somebody removes the bank's files while it is open: what can be made again is made again, and
// without its database a bank ends at once, because nothing that it promised from then on would be kept.
// A log without a name is copied at once and begun anew a moment later; see `DatabaseFiles`.
// Invariants: what was removed and could not be made good is owed until it is; and once the database is gone nothing is
// promised, and the store of a home that is gone is never closed: by then the same names can belong to another bank.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class HomeKeeper: BankPart {
  /// How long a bank without its database stays to say so. Whoever removes a whole home has time to finish, and no guardian
  /// opens another bank in its place meanwhile.
  private static let farewell = TimeSpan.milliseconds(500)

  private let windows: WindowPlan
  private let outside: OutsideWorkers
  private let page: PageServer
  /// Notices when the home is removed; nil where the system has no watch left.
  private var watch: HomeWatch?
  /// What was removed a moment ago, and what could not be made good at once: the lock and the database's log.
  private var freshLosses: [HomeWatch.Loss] = []
  private var owed: Set<HomeWatch.Loss> = []
  /// Names that were lost and are not known to be repaired.
  private var lostPaths: Set<String> = []
  /// Why nobody is served any more, and until when that is said; nil while the database is there.
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
    } catch { context.write(event: "home_unwatched", level: .warn) { $0.field("msg", error.description) } }
  }

  /// Whatever is removed from here on, nothing is made of it.
  func stop() { watch?.onLoss = nil }
  var nextDeadline: MonotonicTime? { watch?.repairAt }

  func meetLosses() {
    guard !freshLosses.isEmpty else { return }
    let losses = freshLosses
    freshLosses.removeAll()
    if losses.contains(.database) { return databaseIsGone() }
    if losses.contains(.log), !owed.contains(.log) { rescueLog() }
  }

  /// Makes good what is missing, when whoever has removed it has had the time to finish.
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

  /// Names what was made again. A name that the bank itself takes away, such as the socket of workers that are not offered any
  /// more, is among them only if it is there.
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
      $0.field("msg", "removed while the bank was open, and made again: \(names.joined(separator: ", "))")
    }
  }

  /// What cannot be made good at once is tried again, whatever has its name by then.
  private func owe(_ loss: HomeWatch.Loss, unless isMended: Bool) {
    if isMended { owed.remove(loss) } else { owed.insert(loss) }
  }

  /// The log of the database has lost its name: what was promised is copied to where the next coordinator finds it.
  private func rescueLog() {
    owed.insert(.log)
    context.write(event: "log_lost", level: .error) {
      $0.field(
        "msg", "the log \(home.database)-wal was removed while the bank was open; it is copied and begun anew"
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
    context.write(event: "home_not_repaired", level: .error) { $0.field("msg", words) }
  }

  /// Nothing is promised any more. Whoever asks is told why, and then the process ends; see ``sayFarewell()``.
  private func databaseIsGone() {
    context.cutOff(with: nil)
    let words = "the database \(home.database) was removed or renamed while the bank was open"
    context.write(event: "home_lost", level: .error) { $0.field("msg", words) }
    context.log.flush()
    _ = try? StandardStreams.write("bankd: \(words)\n", to: .error)
    context.bindings.files?.abandon()
    // Nobody is served any more, and nothing that a worker says is kept.
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

  /// One turn of a bank whose database is gone: whoever asks is told why, for as long as it stays. Then it ends.
  func sayFarewell() {
    guard let leave else { return }
    if SystemClock.monotonic() < leave.until, (try? context.loop.runOnce(until: leave.until)) != nil {
      return server.flush()
    }
    server.close(saying: leave.failure)
    // Its guardian shall not open a new bank in the place of the one that somebody has removed.
    context.bindings.guardianship?.lost()
    context.cutOff(with: 1)
  }
}

/// Notices when a name in the home is removed or renamed that the coordinator owns, by the table of the home.
/// Invariant: what is missing is known by the file behind the name, so that another file in its place counts as missing.
/// Notes, logs and the directory of output are replaced in the ordinary course of a bank, and count as missing if the name
/// leads nowhere.
/// Failure: SystemError where the kernel has no watch left; a bank lives without one.
final class HomeWatch {
  /// Entries of the table that are lost and repaired together.
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

    /// True for names that the bank takes away in its ordinary course.
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

  /// Called with what is missing as soon as it is.
  var onLoss: (([Loss]) -> Void)?

  private let home: BankHome
  private let names: NameWatch

  /// Takes everything that is in the home now for what belongs there.
  init(_ home: BankHome, on loop: EventLoop) throws(SystemError) {
    self.home = home
    names = try NameWatch(in: [home.path, home.run, home.logs], on: loop)
    for loss in Loss.allCases { names.expect(Self.paths(of: loss, home), loss.expectation) }
    names.onLoss = { [unowned self] paths in onLoss?(losses(in: paths)) }
    try names.remember()
  }

  var repairAt: MonotonicTime? { names.repairAt.map { MonotonicTime(nanoseconds: $0.nanoseconds) } }
  func losses() -> [Loss] { losses(in: names.losses()) }
  /// Takes what is there now for what belongs there.
  func remember() throws(SystemError) { try names.remember() }
  /// What is missing could not be made good: it is tried again later.
  func putOff() { names.putOff() }
  func lostPaths() -> [String] { names.losses() }

  static func paths(of loss: Loss, _ home: BankHome) -> [String] {
    loss.entries.map { Paths.join(home.path, $0.path) }
  }

  private func losses(in paths: [String]) -> [Loss] {
    Loss.allCases.filter { loss in Self.paths(of: loss, home).contains(where: paths.contains) }
  }
}
