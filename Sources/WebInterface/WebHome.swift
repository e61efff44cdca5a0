// Files of the web server in the home: socket, secrets, sessions, last port.
// Invariant: the secrets are readable only by the owner, and new ones are created only if their file cannot be read or
// is invalid. The port is only a hint, and any content of its file is harmless.
// Errors: `SystemError` if the home is not writable.
import Posix
import Transport
import WebCore

struct WebHome {
  /// Absolute path of the home.
  let path: String

  /// Socket for scripts and for `bankctl web`.
  var socket: String { Paths.join(path, "run", "web.sock") }
  private var secretsPath: String { Paths.join(path, "web.secrets") }
  private var sessionsPath: String { Paths.join(path, "run", "web.sessions") }
  private var portPath: String { Paths.join(path, "run", "web.port") }
  /// Socket of the coordinator.
  var controlSocket: String { Paths.join(path, "run", "bank.sock") }
  /// Directory of the logs.
  var logs: String { Paths.join(path, "logs") }
  /// Directory of the commands' output.
  var output: String { Paths.join(path, "output") }

  /// Reads the secrets of this home; creates new ones if their file cannot be read or is invalid.
  func secrets() throws(SystemError) -> Credentials.Secrets {
    if let text = read(secretsPath), let secrets = Credentials.Secrets(text: text) { return secrets }
    let secrets = Credentials.Secrets { RandomSeed.fromSystem() }
    try write(secrets.text, to: secretsPath)
    return secrets
  }

  /// Writes the secrets again.
  func keep(_ secrets: Credentials.Secrets) throws(SystemError) { try write(secrets.text, to: secretsPath) }

  /// Sessions of the preceding process.
  func sessions() -> Sessions { read(sessionsPath, limit: 64 << 10).map { Sessions(text: $0) } ?? Sessions() }

  /// Stores the sessions for the next process. If this fails, for example because the disk is full, the sessions end
  /// with this process.
  func keep(_ sessions: Sessions) {
    do throws(SystemError) { try write(sessions.text, to: sessionsPath) } catch {
      try? Directory.unlink(sessionsPath)
    }
  }

  /// The port that the preceding process used when this port was requested; nil if that is unknown.
  func lastPort(insteadOf port: UInt16) -> UInt16? {
    let numbers = (read(portPath) ?? "").split(separator: " ").map { UInt16($0) }
    return numbers.count == 2 && numbers[0] == port ? numbers[1] : nil
  }

  /// Stores the port in use, with the requested one.
  func remember(_ port: UInt16, requested: UInt16) throws(SystemError) {
    try write("\(requested) \(port)", to: portPath)
  }

  /// Text of a file; nil if it cannot be read, is too long or is not UTF-8.
  private func read(_ path: String, limit: Int = 4_096) -> String? {
    guard let file = try? FileDescriptor.open(path, .readOnly), let bytes = try? file.readAll(limit: limit)
    else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Writes a file under another name, and renames it, so that no reader sees a part of it.
  private func write(_ text: String, to path: String) throws(SystemError) {
    let new = path + ".new"
    try? Directory.unlink(new)
    let file = try FileDescriptor.open(new, [.writeOnly, .create, .exclusive])
    try file.writeAll(Array(text.utf8))
    try Directory.rename(new, to: path)
  }
}
