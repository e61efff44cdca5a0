// Owns `web` and `web stop`: the server of the page of an open bank, and the link that lets a person in.
// Invariant: a link is printed only when it can be followed. Whatever is missing is said before anything is begun.
// Failure: CommandError; exit code 3 where the bank is not open, 1 where there is no server of the page to begin.
import BankModel
import ByteText
import ControlClient
import JSON
import Posix
import Time
import Wire

enum WebCommands {
  /// How long the server may take until it listens.
  private static let patience = TimeSpan.seconds(15)

  static func open(_ session: Session) throws(CommandError) {
    let order = WebOrder(
      port: session.invocation.integer("port"), isReadOnly: session.invocation.flag("read-only"),
      hasChaos: session.invocation.flag("chaos"), host: session.invocation.text("host"))
    let launcher = try fromControl(session.surroundings.launcher())
    let program = Paths.join(Paths.directory(of: launcher.program), "bank-web")
    // A coordinator that is not there is told first: without it there is no use in a library.
    _ = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(.status)
    }
    guard (try? FileFacts.inspect(program))?.isFile == true else {
      throw .complaint(.webMissing, session.words.webMissing)
    }
    _ = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(.web(order))
    }
    let link = try link(order, target(session), session)
    if let refusal = link.portRefusal { session.note(session.words.webPortRefused(refusal)) }
    guard let url = link.url else {
      return try session.show(
        link.document, or: session.words.webAtSocket(link.socket, managerCode: link.managerCode))
    }
    if let port = link.port, link.askedPort != 0, link.askedPort != port {
      session.note(session.words.otherPort(asked: link.askedPort, found: port))
    }
    try session.show(link.document, or: session.words.webOpen(url, managerCode: link.managerCode))
    if !session.invocation.flag("no-open"), !session.asJSON, session.output.isTerminal {
      openBrowser(url)
    }
  }

  /// What the link is to allow, as the page's server is asked for it.
  private static func target(_ session: Session) -> String {
    "/links?role=\(session.invocation.text("role") ?? "operator")"
      + (session.invocation.flag("allow-run") ? "&run=1" : "")
  }

  static func stop(_ session: Session) throws(CommandError) {
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(.web(nil))
    }
    try session.show(.status(report), or: [session.words.webStopped])
  }

  // MARK: - The link

  private struct Link {
    /// nil where the page's server may listen at no port, and nobody stands in front of it.
    var url: String?
    /// The page under the bank's own name; nil without a port.
    var origin: String?
    /// What the link allows.
    var role: String
    var mayRun: Bool
    /// Why it may not.
    var portRefusal: String?
    var socket: String
    var isReadOnly: Bool
    var hasChaos: Bool
    var managerCode: String
    var askedPort: Int64

    init?(_ body: [UInt8]) {
      guard let node = try? JSONReader.read(body), case .object(let members) = node.content else {
        return nil
      }
      func text(_ name: String) -> String? {
        if case .string(let text)? = members.first(where: { $0.key == name })?.value.content {
          text
        } else {
          nil
        }
      }
      func flag(_ name: String) -> Bool {
        members.first { $0.key == name }?.value.content == .bool(true)
      }
      guard let socket = text("socket"), let code = text("manager_code") else { return nil }
      (self.socket, managerCode) = (socket, code)
      (url, portRefusal) = (text("url"), text("port_refused"))
      (origin, role, mayRun) = (text("origin"), text("role") ?? "operator", flag("run"))
      guard url != nil || portRefusal != nil else { return nil }
      (isReadOnly, hasChaos) = (flag("read_only"), flag("chaos"))
      askedPort =
        if case .number(let digits)? = members.first(where: { $0.key == "asked_port" })?.value.content {
          Int64(digits) ?? 0
        } else { 0 }
    }

    /// The port of `http://127.0.0.1:8700/login?…`.
    var port: Int64? {
      guard portRefusal == nil else { return nil }
      return url?.split(separator: ":").last.flatMap { Int64($0.prefix { $0 != "/" }) }
    }

    var document: JSONValue {
      [
        "version": 1, "url": .init(url), "port_refused": .init(portRefusal),
        "socket": .string(ByteText.shown(socket)),
        "read_only": .bool(isReadOnly),
        "chaos": .bool(hasChaos), "origin": .init(origin), "role": .string(role), "run": .bool(mayRun),
        "manager_code": .string(managerCode),
      ]
    }
  }

  /// Asks the server for a link as soon as it is there, and is the one that was asked for.
  private static func link(
    _ order: WebOrder, _ target: String, _ session: Session
  ) throws(CommandError) -> Link {
    let socket = Paths.join(session.home.path, "run", "web.sock")
    let deadline = SystemClock.monotonic() + patience
    while SystemClock.monotonic() < deadline {
      if let answer = LocalExchange.post(target, to: socket, until: SystemClock.monotonic() + .seconds(2)),
        answer.status == 200, let link = Link(answer.body), !order.isReadOnly || link.isReadOnly,
        !order.hasChaos || link.hasChaos
      {
        return link
      }
      Pause.briefly()
    }
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(.status)
    }
    let worker = report.workers.first { $0.role == .web }
    throw .complaint(.webFailed, session.words.webFailed(worker?.trouble ?? ""))
  }

  /// At a desktop the page opens by itself; elsewhere there is nobody who could look at it.
  private static func openBrowser(_ url: String) {
    let opener = "/usr/bin/xdg-open"
    let isDesktop = ["WAYLAND_DISPLAY", "DISPLAY"].contains { Environment.value($0)?.isEmpty == false }
    guard isDesktop, (try? FileFacts.inspect(opener))?.isFile == true else { return }
    // Where it does not open, the link stands there.
    _ = try? ChildProcess.spawn(
      executable: opener, arguments: [url], environment: Environment.all(), standardOutput: .null,
      standardError: .null, newSession: true)
  }
}
