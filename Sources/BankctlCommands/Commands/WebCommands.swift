// `web` and `web stop`: the web server of an open bank, and the login link.
// Invariant: a link is printed after the server has answered.
// Errors: `CommandError`; exit code 3 if the bank is not open, 1 if the web server is not installed.
import BankModel
import ByteText
import ControlClient
import JSON
import Posix
import Time
import Wire

/// Implementations of `bankctl web` and `bankctl web stop`.
enum WebCommands {
  /// Maximum time until the server accepts connections.
  private static let serverTimeout = TimeSpan.seconds(15)

  /// Starts the web server if it is not running, and prints a login link.
  static func open(_ session: Session) throws(CommandError) {
    let order = WebServerSettings(
      port: session.invocation.integer("port"), isReadOnly: session.invocation.flag("read-only"),
      hasChaos: session.invocation.flag("chaos"), host: session.invocation.text("host"))
    let launcher = try fromControl(session.environment.launcher())
    let program = Paths.join(Paths.directory(of: launcher.program), "bank-web")
    // A closed bank is reported first; only an open bank needs the program of the server.
    _ = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      try coordinator.status(.status)
    }
    guard (try? FileMetadata.inspect(program))?.isFile == true else {
      throw .commandFailure(.webMissing, session.messages.webMissing)
    }
    _ = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      try coordinator.status(.web(order))
    }
    let link = try link(order, target(session), session)
    if let refusal = link.portRefusal { session.note(session.messages.webPortRefused(refusal)) }
    guard let url = link.url else {
      return try session.show(
        link.document, or: session.messages.webAtSocket(link.socket, managerCode: link.managerCode))
    }
    if let port = link.port, link.askedPort != 0, link.askedPort != port {
      session.note(session.messages.otherPort(asked: link.askedPort, found: port))
    }
    try session.show(link.document, or: session.messages.webOpen(url, managerCode: link.managerCode))
    if !session.invocation.flag("no-open"), !session.asJSON, session.output.isTerminal {
      openBrowser(url)
    }
  }

  /// Path and query of the HTTP request for a login link with the requested permissions: `/links?role=operator`.
  private static func target(_ session: Session) -> String {
    "/links?role=\(session.invocation.text("role") ?? "operator")"
      + (session.invocation.flag("allow-run") ? "&run=1" : "")
  }

  /// Stops the web server; the bank stays open.
  static func stop(_ session: Session) throws(CommandError) {
    let report = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      try coordinator.status(.web(nil))
    }
    try session.show(.status(report), or: [session.messages.webStopped])
  }

  // MARK: - Link

  /// The web server's answer to a request for a login link.
  private struct Link {
    /// Nil if the server cannot listen on its port, and no proxy is configured in front of it.
    var url: String?
    /// Address under the bank's own host name; nil without a port.
    var origin: String?
    /// Role of the link's session.
    var role: String
    var mayRun: Bool
    /// Reason why the server does not listen on its port.
    var portRefusal: String?
    var socket: String
    var isReadOnly: Bool
    var hasChaos: Bool
    var managerCode: String
    var askedPort: Int64

    /// Parses the answer; nil if a required field is missing.
    init?(_ body: [UInt8]) {
      guard let node = try? JSONReader.read(body), case .object(let members) = node.content else {
        return nil
      }
      /// The text of a field; nil if it is missing or not text.
      func text(_ name: String) -> String? {
        if case .string(let text)? = members.first(where: { $0.key == name })?.value.content {
          text
        } else {
          nil
        }
      }
      /// True if a field is the JSON value `true`.
      func flag(_ name: String) -> Bool {
        members.first { $0.key == name }?.value.content == .bool(true)
      }
      guard let socket = text("socket"), let code = text("manager_code") else { return nil }
      (self.socket, managerCode) = (socket, code)
      (url, portRefusal) = (text("url"), text("port_error"))
      (origin, role, mayRun) = (text("origin"), text("role") ?? "operator", flag("run"))
      guard url != nil || portRefusal != nil else { return nil }
      (isReadOnly, hasChaos) = (flag("read_only"), flag("chaos"))
      askedPort =
        if case .number(let digits)? = members.first(where: { $0.key == "asked_port" })?.value.content {
          Int64(digits) ?? 0
        } else { 0 }
    }

    /// The port in `url`: 8700 in `http://127.0.0.1:8700/login?…`.
    var port: Int64? {
      guard portRefusal == nil else { return nil }
      return url?.split(separator: ":").last.flatMap { Int64($0.prefix { $0 != "/" }) }
    }

    /// The JSON output of the command.
    var document: JSONValue {
      [
        "version": 1, "url": .init(url), "port_error": .init(portRefusal),
        "socket": .string(ByteText.shown(socket)),
        "read_only": .bool(isReadOnly),
        "chaos": .bool(hasChaos), "origin": .init(origin), "role": .string(role), "run": .bool(mayRun),
        "manager_code": .string(managerCode),
      ]
    }
  }

  /// Requests a login link until a web server with the requested settings answers; throws an error after a timeout.
  private static func link(
    _ order: WebServerSettings, _ target: String, _ session: Session
  ) throws(CommandError) -> Link {
    let socket = Paths.join(session.home.path, "run", "web.sock")
    let deadline = SystemClock.monotonic() + serverTimeout
    while SystemClock.monotonic() < deadline {
      if let answer = LocalHTTPClient.post(target, to: socket, until: SystemClock.monotonic() + .seconds(2)),
        answer.status == 200, let link = Link(answer.body), !order.isReadOnly || link.isReadOnly,
        !order.hasChaos || link.hasChaos
      {
        return link
      }
      Pause.briefly()
    }
    let report = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      try coordinator.status(.status)
    }
    let worker = report.workers.first { $0.role == .web }
    throw .commandFailure(.webFailed, session.messages.webFailed(worker?.trouble ?? ""))
  }

  /// Opens the link in the browser of a desktop; does nothing without a desktop.
  private static func openBrowser(_ url: String) {
    let opener = "/usr/bin/xdg-open"
    let isDesktop = ["WAYLAND_DISPLAY", "DISPLAY"].contains { Environment.value($0)?.isEmpty == false }
    guard isDesktop, (try? FileMetadata.inspect(opener))?.isFile == true else { return }
    // A failure is ignored, because the link is also printed.
    _ = try? ChildProcess.spawn(
      executable: opener, arguments: [url], environment: Environment.all(), standardOutput: .null,
      standardError: .null, newSession: true)
  }
}
