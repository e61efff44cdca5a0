// Process of a service: from its command line to its exit code. An error that prevents the start is printed on
// standard error. A `Failure` is also reported to the coordinator on descriptor 3, if it occurs after the hello.
// Invariant: under a coordinator the process ends when the coordinator has ended. The home directory is examined
// under the lock and before the log is created, because an existing log proves that a database existed.

import BankModel
import Glibc
import Logging
import Posix
import QueueCore
import Storage
import Transport
import Wire

/// A service as a process of its own.
public enum ServiceProcess<Program: ServiceProgram> {
  /// Runs until the end. Returns the exit code: 0 ended as requested or because the coordinator has ended, 1 failed,
  /// 2 started with invalid arguments. A task of `Program.runInstead(_:)` has its own exit codes.
  public static func run(arguments: [String]) -> Int32 {
    ProcessStart.prepare(as: .service)
    let options: ServiceOptions
    do throws(Failure) {
      options = try ServiceOptions(arguments, fileOptions: Program.fileOptions, title: Program.title)
    } catch {
      complain(error)
      return 2
    }
    do {
      let options = try options.absolute()
      ProcessStart.leaveStartDirectory()
      return try Program.runInstead(options) ?? run(options)
    } catch {
      complain(failure(error))
      return 1
    }
  }

  /// Connects to the coordinator, if there is one, and serves. Returns the exit code.
  private static func run(_ options: ServiceOptions) throws(SystemError) -> Int32 {
    let loop = try EventLoop()
    let supervisor: SupervisorConnection?
    switch try SupervisorConnection.start(as: Program.role, named: Program.Handler.executable, on: loop) {
    case .unsupervised: supervisor = nil
    case .supervised(let started): supervisor = started
    case .ended(let code): return code
    }
    do { return try serve(options, loop, supervisor) } catch let failure as Failure {
      complain(failure)
      supervisor?.send(.failed(failure))
    } catch { complain(failure(error)) }
    return 1
  }

  /// Takes the lock of the service, opens its database and serves clients until the end.
  private static func serve(
    _ options: ServiceOptions, _ loop: EventLoop, _ supervisor: SupervisorConnection?
  ) throws -> Int32 {
    let home = ServiceHome(path: options.home, name: Program.name)
    let program = try Program(configuration: Program.fileOptions.first.flatMap { options.files[$0] })
    try home.prepare()
    let lock = try ServiceLock(home, loop)
    try home.examineDatabase(mustExist: options.mustExist)
    let (store, service) = try open(program, home, loop, supervisor)
    let server = ServiceServer(service, on: loop, log: try log(home, supervisor), supervisor: supervisor)
    server.databaseIdentity = DatabaseIdentity(
      identity: service.driver.machine.identity, bank: try store.lastBank())
    server.storeBankIdentity = store.remember
    // A terminal sends SIGINT and SIGHUP to the whole process group; under a coordinator the service ignores both,
    // because the coordinator ends it by a message or by SIGTERM.
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { report in
      if report.signal == SIGTERM || supervisor == nil { server.requestStop() }
    }
    try server.open(in: home, store.files) { lock.retake() }
    if let error = service.driver.failure { throw Failure(error, of: home) }
    let code = try server.run()
    withExtendedLifetime(signals) {}
    // If the write-ahead log cannot be copied now, no data is lost, because the next start reads it.
    if code == 0 { try? store.close() }
    lock.unlock()
    return code
  }

  private static func open(
    _ program: Program, _ home: ServiceHome, _ loop: EventLoop, _ supervisor: SupervisorConnection?
  ) throws(Failure) -> (DatabaseStore, Program.Handler) {
    do throws(StoreError) {
      let identity = Int64(bitPattern: RandomSeed.fromSystem() >> 1)
      let (store, service) = try program.open(home, on: loop, identity: identity) {
        supervisor?.reportProgress()
      }
      store.enableReserve()
      return (store, service)
    } catch { throw Failure(error, of: home) }
  }

  /// Log of the service, with the settings of the coordinator or the default ones.
  private static func log(_ home: ServiceHome, _ supervisor: SupervisorConnection?) throws -> LogFile {
    let settings =
      supervisor?.settings
      ?? ServiceProcessSettings(
        name: home.name, generation: 1, language: .english, logPath: home.log, logLimit: 10 << 20, logKeep: 3)
    let isLogging = !settings.logPath.isEmpty
    return try LogFile(
      path: isLogging ? settings.logPath : "/dev/null", worker: settings.name,
      generation: settings.generation,
      limit: isLogging ? settings.logLimit : 0, keep: settings.logKeep)
  }

  /// Failure with the text of any error.
  private static func failure(_ error: any Error) -> Failure {
    error as? Failure ?? Failure(.system, detail: (error as? SystemError)?.description ?? "\(error)")
  }

  /// Prints a failure on standard error.
  private static func complain(_ failure: Failure) {
    SupervisorConnection.complain(failure, as: Program.Handler.executable)
  }
}

extension Failure {
  /// Error for a database that could not be used.
  init(_ error: StoreError, of home: ServiceHome) {
    let code: Code =
      switch error {
      case .diskFull: .diskFull
      case .inUse: .alreadyOpen
      case .newerSchema: .newerSchema
      case .damaged: .damaged
      case .failed: .system
      }
    let messageDetail =
      if case .damaged(_, let detail) = error { detail } else { MessageDetail(quoting: error.description) }
    self.init(code, subject: home.database, messageDetail: messageDetail)
  }
}

/// Lock of a service's files in its home.
private final class ServiceLock {
  private let home: ServiceHome
  private var lock: LockFile?

  init(_ home: ServiceHome, _ loop: EventLoop) throws(Failure) {
    self.home = home
    lock = try home.takeLock(loop)
  }

  /// Takes the lock again after its file was removed. Returns false if that failed, for example because another
  /// process has locked the file that has the name now.
  func retake() -> Bool {
    // The file may have been moved away and back.
    if lock != nil, lock!.isAt(path: home.lock) { return true }
    guard case .acquired(let fresh)? = try? LockFile.acquire(path: home.lock) else { return false }
    lock = consume fresh
    return true
  }

  func unlock() { if let lock = lock.take() { lock.unlock() } }
}
