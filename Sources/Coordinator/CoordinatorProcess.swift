// Life cycle of the process, from its command line to its exit code.
// Errors: if the bank cannot open, the reason is sent on descriptor 3 to the process that started this one, in the
// control protocol. If descriptor 3 is not an open socket, the reason is written to standard error.

import BankModel
import CommandRunner
import Configuration
import Glibc
import Logging
import Posix
import QueueCore
import Storage
import Time
import Transport
import Wire

/// Entry point of `bankd`.
public enum CoordinatorProcess {
  /// Runs a bank until it has ended, an inspection until its client has disconnected, or an audit of rows. Returns
  /// the exit code.
  ///
  /// - Parameter shared: Opener of shared databases; nil if this build does not support PostgreSQL.
  public static func run(arguments: [String], shared opener: (any SharedStoreOpener)? = nil) -> Int32 {
    ProcessStart.prepare(as: .service)
    let starter = inheritedSocket()
    do {
      let options = try CoordinatorOptions(arguments).absolute()
      ProcessStart.leaveStartDirectory()
      if let coordinator = options.countsFor {
        return AuditReaderProcess.run(BankHome(options.home), for: coordinator, on: starter)
      }
      if options.store != nil, opener == nil {
        throw Failure(.badRequest, subject: "--store", messageDetail: MessageDetail(.noPostgres))
      }
      // Descriptor 4 must be taken before any other file is opened: without a lock from the guardian, a file
      // could get this number.
      let shared = options.guardian == nil ? nil : inheritedLock()
      let loop = try EventLoop()
      let server = ControlServer(loop: loop, build: BuildIdentity.current)
      return options.isInspection
        ? try inspect(options, opener, starter, loop, server)
        : try open(options, opener, starter, shared, loop, server)
    } catch {
      let failure = (error as? StoreError).map { Failure(store: $0) } ?? Failure(.system, detail: "\(error)")
      reportFailure(error as? Failure ?? failure, on: starter)
    }
    return 1
  }

  /// Descriptor 3, if it is a socket: it is connected to the process that started this one.
  private static func inheritedSocket() -> CInt? {
    var kind: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(3, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else { return nil }
    _ = fcntl(3, F_SETFD, FD_CLOEXEC)
    return 3
  }

  /// Descriptor 4, if it is open: the home's lock, shared by the guardian. Call only if there is a guardian.
  private static func inheritedLock() -> FileDescriptor? {
    guard fcntl(4, F_GETFD) != -1 else { return nil }
    _ = fcntl(4, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(owning: 4)
  }

  // MARK: - An open bank

  /// Opens the bank and runs it until it has closed. Returns the exit code.
  private static func open(
    _ options: CoordinatorOptions, _ opener: (any SharedStoreOpener)?, _ starter: CInt?,
    _ shared: consuming FileDescriptor?, _ loop: EventLoop, _ server: ControlServer
  ) throws -> Int32 {
    let home = BankHome(options.home)
    var fileError: Failure?
    var configuration = try RecoveryMarkerFile.configuration(of: options, home, fileError: &fileError)
    let address = options.store ?? configuration.store.address?.description
    if address != nil, opener == nil {
      throw Failure(.badRequest, subject: "store", messageDetail: MessageDetail(.noPostgres))
    }
    if address == nil { try home.requireOwnDatabase() }
    if address == nil, options.isRecovery, try FileMetadata.inspect(home.database) == nil {
      // Opening a missing database would create another, empty bank.
      throw Failure(.badHome, subject: home.path, messageDetail: MessageDetail(.databaseRemoved))
    }
    try home.prepare()
    let ties = try HomeOwnership(options, lock: shared, guardian: sibling("bank-guardian"))
    redirectStandardError(to: home.standardError)
    CurrentProcess.setName("bankd")
    let heartbeat = ties.beginHeartbeats(loop: loop, patience: configuration.watchdogTimeout)
    let openedStore: OpenedStore
    if let address, let opener {
      var branch = BranchJoinRequest(
        address: address, name: configuration.store.branch ?? home.branchName, host: LocalHost.name,
        services: configuration.services, language: options.language ?? configuration.language ?? .english,
        homeIdentity: BranchIdentityProof.text(of: home), isReturning: options.isRecovery)
      let note = SharedStoreMarkerFile.read(from: home.sharedStoreMarkerFile)
      branch.known = note?.mark(of: branch.name)
      branch.isElsewhere = note.map { $0.address != address } ?? false
      openedStore = OpenedStore(
        try opener.join(branch, on: loop) { heartbeat.progressed() }, address: address)
    } else {
      openedStore = try OpenedStore(of: home, services: configuration.services) { heartbeat.progressed() }
    }
    let now = openedStore.openedAt
    let log = try LogFile(
      path: home.log(of: "coordinator"), worker: "coordinator",
      generation: Int32(clamping: openedStore.incarnation),
      limit: configuration.log.rotateBytes, keep: configuration.log.keep)
    if options.isRecovery {
      recoverWindows(of: &configuration, home, log)
    } else {
      WindowsMarkerFile.remove(home.windows)
    }
    // Inspections read this marker file, also after the bank has closed.
    var opened = configuration.store
    if let address { opened.address = try? StoreAddress(address) }
    if !options.isRecovery { StoreMarkerFile.write(opened, at: home.storeMarkerFile) }
    if let fileError {
      log.write(event: "configuration_copy_unusable", level: .error) { $0.field("msg", fileError.detail) }
    } else {
      RecoveryMarkerFile.copyConfiguration(of: options, home)
    }
    var bindings = ties.homeResources(heartbeat, loop: loop, log: log, closeStore: openedStore.close)
    bindings.hasHome = true
    (bindings.databaseRecords, bindings.files) = (
      openedStore.databaseRecords, openedStore.databaseRecords?.files
    )
    bindings.renewReserve = { openedStore.databaseRecords?.files.renewReserve() }
    bindings.restoreStoreMarkerFile = { [opened] in StoreMarkerFile.write(opened, at: home.storeMarkerFile) }
    bindings.reopenLogs = { redirectStandardError(to: home.standardError) }
    bindings.inFlightTable = inFlightTable(of: home, log)
    let coordinator = Coordinator(
      home: home, options: options, configuration: configuration, loop: loop, server: server, log: log,
      store: openedStore.store, reading: openedStore.reading, shared: openedStore.shared,
      contents: openedStore.contents,
      incarnation: openedStore.incarnation, bankID: openedStore.name, programs: try ProgramPaths(), now: now,
      bindings: bindings)
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) {
      coordinator.handle(signal: $0.signal)
    }
    if let starter { try server.adopt(FileDescriptor(owning: starter)) }
    ties.begin()
    // Orphans of runners are reparented to this process.
    try Subreaper.become()
    let others = try reapOrphans(of: coordinator, on: loop)
    defer { withExtendedLifetime(others) {} }
    let clearing = OrphanReaper(of: coordinator, openedStore.contents.dayCounters)
    while !clearing.isDone {
      try clearing.runIteration()
      heartbeat.progressed()
    }
    coordinator.tellerSupervisor.inherit(coordinator.context.processIdentity, clearing.remainingProcesses)
    // If the client that opened the bank has exited by now, the bank is not opened.
    let openerWatch = try options.opener.map {
      try OpenerWatch($0, on: loop) { coordinator.handleOpenerExit() }
    }
    if coordinator.context.exitCode == nil { try coordinator.open() }
    let code = try coordinator.run()
    withExtendedLifetime((signals, openerWatch)) {}
    guard !coordinator.context.isHalted else {
      // The database is not closed: closing would write to a disk whose state is unknown, or to another bank's files.
      _ = Unmanaged.passRetained(coordinator)
      return code
    }
    withExtendedLifetime(coordinator) {
      coordinator.tellerSupervisor.removeControlGroups()
      let finalFlush = FinalFlush(server, loop)
      while (try? finalFlush.runIteration()) == false {}
    }
    return code
  }

  /// Opens the table of customers in flight; nil if the file is unusable. Without the table a crash of the coordinator
  /// is attributed to no customer.
  private static func inFlightTable(of home: BankHome, _ log: LogFile) -> InFlightTable? {
    do throws(SystemError) { return try InFlightTable(at: home.inFlightTable) } catch {
      log.write(event: "inflight_file_unusable", level: .warn) { $0.field("msg", error.description) }
      return nil
    }
  }

  /// As process 1 of a container, the coordinator reaps all orphans. While it kills the orphans of a runner, it
  /// does not reap them: the code that kills them waits for each exit.
  private static func reapOrphans(
    of coordinator: Coordinator, on loop: EventLoop
  ) throws(SystemError) -> SignalSource? {
    guard CurrentProcess.pid == 1 else { return nil }
    return try SignalSource([SIGCHLD], on: loop) { _ in
      if !coordinator.tellerSupervisor.isReaping { Subreaper.reapOrphans() }
    }
  }

  /// Path of another program in the directory of this one.
  private static func sibling(_ name: String) throws(SystemError) -> String {
    Paths.join(Paths.directory(of: try Paths.executable()), name)
  }

  /// Sets the numbers of windows to those of the crashed coordinator, if they are recorded.
  private static func recoverWindows(
    of configuration: inout BankConfiguration, _ home: BankHome, _ log: LogFile
  ) {
    let recorded = WindowsMarkerFile.read(from: home.windows)
    log.write(event: "recovering", level: .warn) {
      let words = recorded.map { recorded in configuration.services.map { "\($0)=\(recorded[$0] ?? 0)" } }
      $0.field("windows", words?.joined(separator: ","))
      if recorded == nil {
        $0.field("msg", "there is no record of the windows; their number comes from the configuration")
      }
    }
    for (service, count) in recorded ?? [:] where configuration.services.contains(service) {
      configuration.windows[service] = count
    }
  }

  /// Size of the standard error file in bytes above which the next opening rotates it.
  private static let longestStandardError: Int64 = 1 << 20

  /// Redirects standard error to a file: the message of a broken invariant is written to it, and a daemon has
  /// no terminal.
  private static func redirectStandardError(to path: String) {
    if let facts = try? FileMetadata.inspect(path), facts.size > longestStandardError {
      try? Directory.rename(path, to: path + ".1")
    }
    if let file = try? FileDescriptor.open(path, [.writeOnly, .create, .append], mode: 0o600) {
      _ = dup2(file.rawValue, STDERR_FILENO)
    }
  }

  // MARK: - Inspection of a closed bank

  /// Answers the queries of one client about a closed bank or a shared database. Returns the exit code.
  private static func inspect(
    _ options: CoordinatorOptions, _ opener: (any SharedStoreOpener)?, _ starter: CInt?, _ loop: EventLoop,
    _ server: ControlServer
  ) throws -> Int32 {
    let home = BankHome(options.home)
    let store = options.store ?? StoreMarkerFile.read(from: home.storeMarkerFile)?.address?.description
    if let store, let opener {
      // A coordinator that uses this process as its reader is the parent of this process. It may exit while
      // this process waits for the database.
      if let opener = options.opener, !ParentDeath.dieWithParent(expectedParent: opener) { return 0 }
      CurrentProcess.setName("bank-reader")
      let branch = StoreMarkerFile.read(from: home.storeMarkerFile)?.branch ?? home.branchName
      let stock = StockAuditTask(home: home, branch: branch, isOpen: options.opener != nil, loop: loop)
      return try answer(
        from: try opener.inspect(store, in: options.language ?? .english) {
          SharedStoreMarkerFile.read(from: home.sharedStoreMarkerFile).flatMap {
            $0.address == store ? $0.mark : nil
          }
        }, starter, loop, server, stock: options.home.isEmpty ? nil : stock,
        HomeMove.again(in: home, opener))
    }
    if try FileMetadata.inspect(home.database) == nil { try home.examineDatabase() }
    guard try FileMetadata.inspect(home.database) != nil else {
      throw Failure(.notOpen, subject: home.path, messageDetail: MessageDetail(.neverOpened))
    }
    let lock = try HomeLock(inspecting: home)
    defer { lock.release() }
    try home.examineDatabase()
    let now = WallTime(milliseconds: SystemClock.wall().milliseconds)
    let bank = try ClosedBank(home, now: now)
    return try answer(
      from: bank, starter, loop, server, opener.map { HomeMove(home, bank, $0).run } ?? HomeMove.unavailable)
  }

  /// Serves the client on descriptor 3 from this database until it has disconnected.
  private static func answer(
    from inspectedStore: any InspectedStore, _ starter: CInt?, _ loop: EventLoop, _ server: ControlServer,
    stock: StockAuditTask? = nil, _ move: @escaping HomeMove.Handler
  ) throws -> Int32 {
    guard let starter else {
      throw Failure(.badRequest, subject: "--inspect", detail: "descriptor 3 is not a socket; use bankctl")
    }
    try server.adopt(FileDescriptor(owning: starter))
    try Inspector(inspectedStore, loop: loop, server: server, stock: stock, move: move).run()
    return 0
  }

  // MARK: - Failure to start

  /// Answers the requests of the process that started this one with the reason of the failure.
  private static func reportFailure(_ failure: Failure, on starter: CInt?) {
    let words = [failure.code.name, failure.subject, failure.detail].filter { !$0.isEmpty }
    guard let starter, fcntl(starter, F_GETFD) != -1, let loop = try? EventLoop() else {
      _ = try? StandardStreams.write("bankd: \(words.joined(separator: ": "))\n", to: .error)
      return
    }
    let server = ControlServer(loop: loop, build: BuildIdentity.current)
    var isDone = false
    var until = SystemClock.monotonic() + .seconds(5)
    server.onEnd = { _ in isDone = true }
    server.onCommand = { session, request in
      server.answer(session, request.number, .failure(failure))
      server.flush()
      // The client disconnects after reading the answer. Closing the connection earlier would cut off the
      // client's next request, which the client might take for a crash.
      until = min(until, SystemClock.monotonic() + .seconds(2))
    }
    guard (try? server.adopt(FileDescriptor(owning: starter))) != nil else { return }
    while !isDone, SystemClock.monotonic() < until {
      guard (try? loop.runOnce(until: until)) != nil else { return }
      server.flush()
    }
  }
}

/// Watch on the process that opened the bank in its foreground, independent of the connection to it: a slow client can
/// lose its connection and still run.
final class OpenerWatch {
  private let process: ProcessHandle?

  /// Starts the watch. If the process has already exited or is not the parent of this one, `onEnd` is called before
  /// this returns.
  /// - Parameter pid: Process that started this one.
  init(_ pid: Int32, on loop: EventLoop, onEnd: @escaping () -> Void) throws(SystemError) {
    process = try ProcessHandle(pid: pid)
    // If the process is still the parent after the watch was created, its process id was not reused before, and
    // the watch is on the right process.
    guard let process, CurrentProcess.parentPid == pid else {
      onEnd()
      return
    }
    var registration: Registration?
    registration = try loop.register(fd: process.fd, interest: .read) { [unowned loop] _ in
      if let registration { loop.deregister(registration) }
      onEnd()
    }
  }
}
