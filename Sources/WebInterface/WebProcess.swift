// The web server process: command line, exit code, listeners, loop.
// Invariant: a process that a coordinator has started ends soon after this coordinator. It listens only on 127.0.0.1
// and on the socket in the home, or only on the socket if it may not bind a port. After a restart with the same
// `--port` it listens on the preceding port if that is free.
// Errors: a failed start is reported on standard error, and, after the hello, also to the coordinator on descriptor 3.
import BankModel
import Glibc
import Logging
import Posix
import Time
import Transport
import WebCore
import WebServer
import Wire

/// The web server as a process.
public enum WebProcess {
  /// Runs the server until it has to end. Returns the exit code: 0 ended on request or with the coordinator, 1 failed,
  /// 2 invalid arguments.
  public static func run(arguments: [String]) -> Int32 {
    ProcessStart.prepare(as: .service)
    let options: WebOptions
    do throws(Failure) { options = try WebOptions(arguments) } catch {
      complain(error)
      return 2
    }
    ProcessStart.leaveStartDirectory()
    do throws(SystemError) { return try run(options) } catch {
      complain(Failure(.system, detail: error.description))
      return 1
    }
  }

  /// Connects to the coordinator if one has started this process, runs the server, and returns the exit code.
  private static func run(_ options: WebOptions) throws(SystemError) -> Int32 {
    let loop = try EventLoop()
    let supervisor: SupervisorConnection?
    switch try SupervisorConnection.start(as: .web, named: "bank-web", on: loop) {
    case .unsupervised: supervisor = nil
    case .supervised(let started): supervisor = started
    case .ended(let code): return code
    }
    do throws(SystemError) {
      let server = try WebRun(options, loop, supervisor)
      return try server.run()
    } catch {
      let failure = Failure(.system, subject: error.subject, detail: error.description)
      complain(failure)
      supervisor?.send(.failed(failure))
      return 1
    }
  }

  private static func complain(_ failure: Failure) { SupervisorConnection.complain(failure, as: "bank-web") }
}

/// A running web server: listeners, HTTP server, application and log.
private final class WebRun {
  private let loop: EventLoop
  private let supervisor: SupervisorConnection?
  private let log: LogFile
  private let server: HTTPServer
  private let application: WebApplication
  private var listeners: [Listener] = []
  /// The listener of the socket in the home.
  private var local: Listener?
  /// True after a signal that ends the process.
  private var isStopRequested = false
  private var memoryTrimmer = IdleMemoryTrimmer()
  private var watch: WebFileWatcher?

  /// Number of ports to try after the requested one.
  private static let portAttempts: UInt16 = 100
  /// Response to a connection that gets no descriptor.
  private static let refusalFrame = Array(
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
  /// Time limit for writing the last answers.
  private static let shutdownTimeout = TimeSpan.milliseconds(500)

  init(_ options: WebOptions, _ loop: EventLoop, _ supervisor: SupervisorConnection?) throws(SystemError) {
    (self.loop, self.supervisor) = (loop, supervisor)
    let home = WebHome(path: options.home)
    for directory in [home.path, Paths.directory(of: home.socket), home.logs] {
      try Directory.create(path: directory)
    }
    let settings = supervisor?.settings
    log = try LogFile(
      path: settings.map { $0.logPath.isEmpty ? "/dev/null" : $0.logPath }
        ?? Paths.join(home.logs, "web.log"),
      worker: settings?.name ?? "web", generation: settings?.generation ?? 1,
      limit: settings?.logLimit ?? 10 << 20, keep: settings?.logKeep ?? 3)
    var limits = HTTPServer.Limits()
    // The limits keep descriptors free for the process itself.
    let maximumClients = Listener.maximumClients(for: 2 * limits.streams)
    limits.streams = min(limits.streams, maximumClients / 2)
    limits.waiting = min(limits.waiting, maximumClients / 4)
    limits.connections = min(limits.connections, maximumClients / 8)
    server = try HTTPServer(loop: loop, limits: limits)
    var port: UInt16 = 0
    var refusal: SystemError?
    do throws(SystemError) {
      let open = try Self.listen(options.port, in: home)
      port = open.number
      listeners = [try Listener(socket: open.socket, loop: loop, refusalFrame: Self.refusalFrame)]
    } catch {
      guard InternetSocket.isForbidden(error) else { throw error }
      refusal = error
    }
    if refusal == nil { try home.remember(port, requested: options.port) }
    application = WebApplication(
      loop: loop, options: options, home: home, secrets: try home.secrets(), port: port,
      portRefusal: refusal?.description)
    server.handler = application
    for listener in listeners {
      listener.onConnection = { [unowned server] in server.take($0, isLocal: false) }
    }
    application.onEnd = { [unowned server] in server.endStreams(of: $0) }
    try listenOnHomeSocket(home)
    let (log, application) = (log, application)
    let watch = WebFileWatcher(
      home, on: loop,
      [
        "run/web.sock": { [unowned self] () throws(SystemError) in try listenOnHomeSocket(home) },
        "run/web.port": { () throws(SystemError) in try home.remember(port, requested: options.port) },
        "run/web.sessions": { () throws(SystemError) in home.keep(application.credentials.sessions) },
        "web.secrets": { () throws(SystemError) in try home.keep(application.credentials.secrets) },
        "logs/web.log": { () throws(SystemError) in log.restore() },
      ])
    watch.onEvent = { message, isRepaired in
      log.write(event: isRepaired ? "home_repaired" : "home_repair_failed", level: .warn) {
        $0.field(
          "msg", isRepaired ? "removed while bank-web was running, and created again: \(message)" : message)
      }
    }
    self.watch = watch
    server.onCapacity = { [unowned self] in for listener in listeners { listener.descriptorFreed() } }
    if let refusal {
      log.write(event: "listen_failed", level: .warn) {
        $0.field("error", refusal.description)
        $0.field("msg", "this process cannot listen on 127.0.0.1; the page is available only on run/web.sock")
      }
    }
    log.write(event: "ready") { $0.field("port", Int64(port)) }
  }

  /// Listens on the socket in the home.
  private func listenOnHomeSocket(_ home: WebHome) throws(SystemError) {
    local?.stop()
    listeners.removeAll { $0 === local }
    let fresh = try Listener(path: home.socket, backlog: 128, loop: loop, refusalFrame: Self.refusalFrame)
    fresh.onConnection = { [unowned server] in
      let peer = try? UnixSocket.peer(of: $0)
      server.take($0, isLocal: true, isFromOwner: peer.map { $0.uid == geteuid() || $0.uid == 0 } ?? false)
    }
    listeners.append(fresh)
    local = fresh
  }

  /// Binds the port of the preceding process, the requested one, or the next free one.
  private static func listen(_ requestedPort: UInt16, in home: WebHome) throws(SystemError) -> OpenPort {
    var ports = home.lastPort(insteadOf: requestedPort).map { [$0] } ?? []
    ports +=
      requestedPort == 0
      ? [0] : (0...portAttempts).compactMap { UInt16(exactly: Int(requestedPort) + Int($0)) }
    for port in ports {
      guard let socket = try InternetSocket.listen(port: port) else { continue }
      let number = try InternetSocket.port(of: socket)
      return OpenPort(socket: socket, number: number)
    }
    // If not even an arbitrary free port can be bound, the process counts as one without permission to bind.
    let mayHaveSome = try InternetSocket.listen(port: 0) != nil
    throw SystemError(
      call: "bind", subject: "127.0.0.1:\(requestedPort)", code: mayHaveSome ? EADDRINUSE : EACCES)
  }

  /// Runs the loop until the process has to end; returns the exit code.
  func run() throws(SystemError) -> Int32 {
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { [unowned self] report in
      if report.signal == SIGTERM || supervisor == nil { isStopRequested = true }
    }
    // Lower priority than the workers: if every core is busy, pages are delayed rather than customers.
    _ = nice(5)
    supervisor?.send(.ready)
    while !isStopRequested, supervisor.map({ $0.state == .running }) ?? true { try runIteration(until: nil) }
    for listener in listeners { listener.stop() }
    let end = SystemClock.monotonic() + Self.shutdownTimeout
    if application.pageSubscriptions.hasViewers { try notifyClosed(until: end) }
    server.close()
    while server.count > 0, SystemClock.monotonic() < end { try runIteration(until: end) }
    log.write(event: "exit") { $0.field("code", 0) }
    log.flush()
    withExtendedLifetime(signals) {}
    return 0
  }

  /// Shows viewers that the bank is closed, before their streams end. Shows nothing if only the web server ends.
  private func notifyClosed(until end: MonotonicTime) throws(SystemError) {
    /// Result of asking the coordinator whether the bank is closing; nil until it is known.
    final class Answer { var isClosing: Bool? }
    let answer = Answer()
    application.control.ask(.status, within: .milliseconds(300)) { outcome in
      switch outcome.only(\.status) {
      case .success(let report): answer.isClosing = report.state == .draining || report.state == .closed
      case .failure(let failure): answer.isClosing = failure.code == .notOpen
      }
    }
    while answer.isClosing == nil, SystemClock.monotonic() < end { try runIteration(until: end) }
    guard answer.isClosing == true else { return }
    application.pageSubscriptions.end(SystemClock.monotonic())
    server.finishIteration(SystemClock.monotonic())
  }

  /// Waits for events until the next deadline or the limit, and handles them.
  private func runIteration(until limit: MonotonicTime?) throws(SystemError) {
    let workCount = application.workCount
    try loop.runOnce(until: .earliest(limit, nextDeadline))
    let now = SystemClock.monotonic()
    for listener in listeners { listener.runTimers(now) }
    watch?.runTimers(now)
    // An answer may cause new requests, which are handled in this iteration: no event would wake the loop for them.
    for _ in 0..<4 {
      application.hadRequest = false
      application.finishIteration(now)
      server.finishIteration(now)
      guard application.hadRequest else { break }
    }
    supervisor?.finishIteration()
    log.flushIfDue(now)
    switch memoryTrimmer.finishIteration(now, hasWorked: application.workCount != workCount) {
    case .all:
      SelfMemory.trimHeap()
      SelfMemory.releaseFilePages()
    case .program: SelfMemory.releaseFilePages()
    case nil: break
    }
  }

  /// Time until which the loop may wait; nil for no limit.
  private var nextDeadline: MonotonicTime? {
    if application.hadRequest { return MonotonicTime(nanoseconds: 0) }
    var earliest = MonotonicTime.earliest(application.nextDeadline, server.nextDeadline, log.nextFlush)
    for listener in listeners { earliest = .earlier(earliest, listener.nextDeadline) }
    return .earlier(.earlier(earliest, memoryTrimmer.nextDeadline), watch?.nextDeadline)
  }
}

/// A listening socket and its port.
private struct OpenPort: ~Copyable {
  var socket: FileDescriptor
  var number: UInt16
}
