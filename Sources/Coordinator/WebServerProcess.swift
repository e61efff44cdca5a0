// Web server process of this bank, and the settings with which it was started.
// Invariant: at most one web server exists. If the coordinator is killed, the next one starts it again with the stored
// settings.
// Errors: settings that cannot be used are refused; an invalid file counts as missing.

import BankModel
import Configuration
import Glibc
import Posix
import Wire

final class WebServerProcess: CoordinatorComponent {
  private let programs: ProgramPaths
  /// Settings with which the web server was started; nil if it is stopped.
  private var order: WebServerSettings?
  private var slot: SupervisedService?

  init(_ dependencies: CoordinatorComponent, _ programs: ProgramPaths) {
    self.programs = programs
    super.init(dependencies)
  }

  /// Starts the web server again if it ran under a crashed coordinator. After a clean close it stays off.
  func open() {
    // Simulations have no web server.
    guard Kernel.isLinux else { return }
    guard context.options.isRecovery, let order = remembered() else { return forget() }
    self.order = order
    begin(order)
  }

  /// Starts a web server with these settings, or stops it for nil.
  func receive(_ wanted: WebServerSettings?, _ requester: RequestHandle) throws(Failure) {
    guard let wanted else {
      order = nil
      forget()
      if let slot { serviceSupervisor.dismiss(slot, at: context.now) }
      return
    }
    if let port = wanted.port, !(0...65_535).contains(port) {
      throw Failure(.badRequest, subject: "port", detail: "a port is a number from 0 to 65535")
    }
    guard wanted.hasGoodHost else {
      throw Failure(.badRequest, subject: "host", detail: "a lower-case host name is needed")
    }
    guard ProgramPaths.isProgram(programs.web) else {
      throw Failure(.system, subject: programs.web, detail: "this build has no web interface")
    }
    if let order, wanted.isSatisfied(by: order), slot?.isGivenUp == false { return }
    // A web server that was just stopped may have stored sessions.
    if order == nil { forget() }
    order = wanted
    remember(wanted)
    begin(wanted)
  }

  /// Starts the web server with these settings, after the running one has exited.
  private func begin(_ order: WebServerSettings) {
    let specification = SupervisedService.Specification(
      name: "web", peerRole: .web, workerRole: .web, program: programs.web, arguments: arguments(of: order))
    if let slot {
      slot.specification = specification
      serviceSupervisor.bringBack(slot, at: context.now)
    } else {
      slot = serviceSupervisor.open(specification, at: context.now)
    }
  }

  private func arguments(of order: WebServerSettings) -> [String] {
    var words = ["--home", context.home.path]
    if let port = order.port { words += ["--port", String(port)] }
    if order.isReadOnly { words.append("--read-only") }
    if order.hasChaos { words.append("--chaos") }
    if let host = order.host { words += ["--proxied", host] }
    return words
  }

  // MARK: - Across coordinators

  private var note: String { Paths.join(context.home.path, "run", "web.order") }

  /// Stores the settings for the next coordinator.
  private func remember(_ order: WebServerSettings) {
    let text =
      "\(order.port.map { String($0) } ?? "-") \(order.isReadOnly) \(order.hasChaos) \(order.host ?? "-")"
    RecoveryMarkerFile.write(Array(text.utf8), at: note)
  }

  /// Writes the file with the settings again after it was removed.
  func restoreMarkerFile() { if let order { remember(order) } }

  /// Removes the stored settings, and all stored sessions of the web server.
  private func forget() {
    try? Directory.unlink(note)
    try? Directory.unlink(Paths.join(context.home.path, "run", "web.sessions"))
  }

  /// Settings that an earlier coordinator has stored; nil if there are none, or if the file is invalid.
  private func remembered() -> WebServerSettings? {
    guard let file = try? FileDescriptor.open(note, .readOnly), let bytes = try? file.readAll(limit: 256),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let words = text.split(separator: " ")
    guard words.count == 4, let isReadOnly = Bool(String(words[1])), let hasChaos = Bool(String(words[2])),
      words[0] == "-" || Int64(words[0]) != nil
    else { return nil }
    let order = WebServerSettings(
      port: Int64(words[0]), isReadOnly: isReadOnly, hasChaos: hasChaos,
      host: words[3] == "-" ? nil : String(words[3]))
    return order.hasGoodHost ? order : nil
  }
}
