// Owns what the server of the page keeps in the home: its socket, its secrets, and the port that it had last.
// Invariant: secrets are the owner's alone, and are made once; the port is only a hint, and whatever stands there harms nobody.
// Failure: SystemError where the home cannot be written to.
import Posix
import Transport
import WebCore

/// The files of the page's server.
struct WebHome {
  /// The home itself, absolute.
  let path: String

  /// The socket of scripts, and of `bankctl web`.
  var socket: String { Paths.join(path, "run", "web.sock") }
  private var secretsPath: String { Paths.join(path, "web.secrets") }
  private var sessionsPath: String { Paths.join(path, "run", "web.sessions") }
  private var portPath: String { Paths.join(path, "run", "web.port") }
  /// The coordinator's socket.
  var controlSocket: String { Paths.join(path, "run", "bank.sock") }
  /// Where workers log.
  var logs: String { Paths.join(path, "logs") }
  /// Where commands write.
  var output: String { Paths.join(path, "output") }

  /// The secrets of this home, which are made where there are none.
  func secrets() throws(SystemError) -> Credentials.Secrets {
    if let text = read(secretsPath), let secrets = Credentials.Secrets(text: text) { return secrets }
    let secrets = Credentials.Secrets { RandomSeed.fromSystem() }
    try write(secrets.text, to: secretsPath)
    return secrets
  }

  /// Writes the secrets again, such as after their file was removed.
  func keep(_ secrets: Credentials.Secrets) throws(SystemError) { try write(secrets.text, to: secretsPath) }

  /// The sessions that the predecessor of this process had; the coordinator removes them when the page or the bank is closed.
  func sessions() -> Sessions { read(sessionsPath, limit: 64 << 10).map { Sessions(text: $0) } ?? Sessions() }

  /// Keeps the sessions for a successor. Without room on the disk they end with this process.
  func keep(_ sessions: Sessions) {
    do throws(SystemError) { try write(sessions.text, to: sessionsPath) } catch {
      try? Directory.unlink(sessionsPath)
    }
  }

  /// The port that the last server had which was asked for this one; nil for none.
  func lastPort(whenAskedFor port: UInt16) -> UInt16? {
    let numbers = (read(portPath) ?? "").split(separator: " ").map { UInt16($0) }
    return numbers.count == 2 && numbers[0] == port ? numbers[1] : nil
  }

  /// Writes down which port there is instead of the one that was asked for.
  func remember(_ port: UInt16, askedFor: UInt16) throws(SystemError) {
    try write("\(askedFor) \(port)", to: portPath)
  }

  private func read(_ path: String, limit: Int = 4_096) -> String? {
    guard let file = try? FileDescriptor.open(path, .readOnly), let bytes = try? file.readAll(limit: limit)
    else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  private func write(_ text: String, to path: String) throws(SystemError) {
    let new = path + ".new"
    try? Directory.unlink(new)
    let file = try FileDescriptor.open(new, [.writeOnly, .create, .exclusive])
    try file.writeAll(Array(text.utf8))
    try Directory.rename(new, to: path)
  }
}
