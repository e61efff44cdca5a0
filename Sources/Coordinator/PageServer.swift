// Owns whether this bank has a server of its page, and how that was asked for. What the server does it does not know, and the
// supervisor has its process.
// Invariant: there is at most one; it is there until somebody ends it or the bank, also over a coordinator that was killed and
// brought back: how it was asked for stands in a file meanwhile. The bank opens and serves whether it comes or not.
// Failure: what is asked for and cannot be is refused; a file that makes no sense asks for nothing.

import BankModel
import Configuration
import Glibc
import Posix
import Wire

final class PageServer: BankPart {
  private let programs: WorkerPrograms
  private var order: WebOrder?
  private var post: SupervisedService?

  init(_ ground: BankPart, _ programs: WorkerPrograms) {
    self.programs = programs
    super.init(ground)
  }

  /// The one of the coordinator before this one goes on; one of a bank that was closed does not.
  func open() {
    // No simulation has a page, and its histories stay what they are.
    guard Kernel.isLinux else { return }
    guard context.options.isRecovery, let order = remembered() else { return forget() }
    self.order = order
    begin(order)
  }

  /// Begins one, or ends it where there is no order.
  func take(_ wanted: WebOrder?, _ seat: Seat) throws(Failure) {
    guard let wanted else {
      order = nil
      forget()
      if let post { serviceSupervisor.dismiss(post, at: context.now) }
      return
    }
    if let port = wanted.port, !(0...65_535).contains(port) {
      throw Failure(.badRequest, subject: "port", detail: "a port is a number from 0 to 65535")
    }
    guard wanted.hasGoodHost else {
      throw Failure(.badRequest, subject: "host", detail: "a name of a host is needed, in small letters")
    }
    guard WorkerPrograms.isProgram(programs.web) else {
      throw Failure(.system, subject: programs.web, detail: "this build has no server of the page")
    }
    if let order, wanted.isMet(by: order), post?.isGivenUp == false { return }
    // A server that was just ended may have kept a session behind its end.
    if order == nil { forget() }
    order = wanted
    remember(wanted)
    begin(wanted)
  }

  private func begin(_ order: WebOrder) {
    let specification = SupervisedService.Specification(
      name: "web", peerRole: .web, workerRole: .web, program: programs.web, arguments: arguments(of: order))
    if let post {
      post.specification = specification
      serviceSupervisor.bringBack(post, at: context.now)
    } else {
      post = serviceSupervisor.open(specification, at: context.now)
    }
  }

  private func arguments(of order: WebOrder) -> [String] {
    var words = ["--home", context.home.path]
    if let port = order.port { words += ["--port", String(port)] }
    if order.isReadOnly { words.append("--read-only") }
    if order.hasChaos { words.append("--chaos") }
    if let host = order.host { words += ["--proxied", host] }
    return words
  }

  // MARK: - Across coordinators

  private var note: String { Paths.join(context.home.path, "run", "web.order") }

  private func remember(_ order: WebOrder) {
    let text =
      "\(order.port.map { String($0) } ?? "-") \(order.isReadOnly) \(order.hasChaos) \(order.host ?? "-")"
    RecoveryNote.keep(Array(text.utf8), at: note)
  }

  /// Writes the note again after it was lost.
  func keepNote() { if let order { remember(order) } }

  /// The page is closed, and every session of it has ended.
  private func forget() {
    try? Directory.unlink(note)
    try? Directory.unlink(Paths.join(context.home.path, "run", "web.sessions"))
  }

  private func remembered() -> WebOrder? {
    guard let file = try? FileDescriptor.open(note, .readOnly), let bytes = try? file.readAll(limit: 256),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let words = text.split(separator: " ")
    guard words.count == 4, let isReadOnly = Bool(String(words[1])), let hasChaos = Bool(String(words[2])),
      words[0] == "-" || Int64(words[0]) != nil
    else { return nil }
    let order = WebOrder(
      port: Int64(words[0]), isReadOnly: isReadOnly, hasChaos: hasChaos,
      host: words[3] == "-" ? nil : String(words[3]))
    return order.hasGoodHost ? order : nil
  }
}
