// The browser process: path, arguments, the two pipes, and its end.
// Invariant: the browser has its own directory and session. When the value is released, or this process is killed, the
// pipe closes, and the browser should exit. `BANK_TEST_BRANCH` in its environment marks remaining processes.
// Errors: `BrowserError`. If the browser is missing, the error contains the command that installs it.
import Glibc
import Posix
import Time

/// A running browser, which receives and sends JSON messages.
final class BrowserProcess {
  /// Name of the program.
  private static let name = "chromium-headless-shell"

  private let child: ChildProcess
  /// Directory of the browser's profile, temporary files and standard error.
  private let directory: String
  /// Pipe to the browser; nil after it was closed.
  private var commands: FileDescriptor?
  /// Pipe from the browser.
  private let answers: FileDescriptor
  /// Bytes of an incomplete message.
  private var pending: [UInt8] = []
  /// Number of bytes of `pending` that were searched for the end of a message.
  private var scannedCount = 0

  /// Starts the browser.
  ///
  /// - Parameter language: value of Accept-Language, such as `ko-KR,ko`.
  init(language: String) throws {
    // Before any write: writing to a crashed browser must fail with EPIPE instead of ending this process.
    Signals.ignorePipe()
    let program = try Self.program()
    var template = Array("/tmp/branch-\(getpid())-browser-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw BrowserError("cannot make a directory in /tmp") }
    directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let down = try DescriptorPair.pipe()
    let up = try DescriptorPair.pipe()
    child = try ChildProcess.spawn(
      executable: program, arguments: Self.arguments(directory, language),
      environment: [
        "PATH": "/usr/bin:/bin", "HOME": directory, "LANG": "C.UTF-8", "TMPDIR": directory,
        "BANK_TEST_BRANCH": directory,
      ], channel: down.first, secondDescriptor: up.second, standardOutput: .null,
      standardError: .append(path: "\(directory)/said"), newSession: true)
    commands = .some(down.second)
    answers = up.first
  }

  deinit {
    // The browser exits when the pipe closes, and ends its own processes.
    commands = nil
    _ = Self.waitBriefly { child.reap() != nil }
    if !child.isReaped { kill(-child.pid, SIGKILL) }
    child.end()
    _ = Self.waitBriefly { !hasLiveProcesses }
    Directory.removeTree(directory)
  }

  /// Standard error of the browser, for a log.
  var standardErrorText: String {
    let bytes = try? FileDescriptor.open("\(directory)/said", .readOnly).readAll()
    return String(decoding: bytes ?? [], as: UTF8.self)
  }

  /// True if a process of the browser's session is still alive.
  private var hasLiveProcesses: Bool {
    ProcessTable.all().contains { getsid($0) == child.pid && ProcessTable.alive($0) }
  }

  /// Path of the browser; nil if it is not installed.
  static var path: String? {
    let directories = (Environment.all()["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return directories.map { "\($0)/\(name)" }.first { path in path.withCString { access($0, X_OK) } == 0 }
  }

  /// Polls a condition for some seconds; false if it is still false then.
  private static func waitBriefly(_ condition: () throws -> Bool) -> Bool {
    let deadline = SystemClock.monotonic() + .seconds(10)
    while (try? condition()) != true {
      if SystemClock.monotonic() >= deadline { return false }
      sched_yield()
    }
    return true
  }

  /// ``path``; if it is nil, throws an error that says how to install the browser.
  private static func program() throws -> String {
    guard let found = path else {
      throw BrowserError(
        "\(name) is missing: `scripts/setup tests` installs it, `scripts/test --no-browser` skips its tests")
    }
    return found
  }

  private static func arguments(_ directory: String, _ language: String) -> [String] {
    var arguments = [
      "--remote-debugging-pipe", "--user-data-dir=\(directory)/profile", "--accept-lang=\(language)",
      // The browser resolves only these names, and all of them to 127.0.0.1. Requests to other addresses are sent to
      // port 9 of 127.0.0.1, where no proxy listens.
      "--host-resolver-rules=MAP \(Browser.otherOriginHost) 127.0.0.1, MAP *.localhost 127.0.0.1, "
        + "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=\(Browser.otherOriginHost)",
      "--disable-background-networking", "--no-first-run",
      "--disable-component-update", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
      "--mute-audio", "--no-zygote", "--force-color-profile=srgb", "--font-render-hinting=none",
    ]
    // As root the sandbox cannot run, so the sandbox and the zygote process are disabled. For other users the sandbox
    // runs, and it needs the zygote process.
    if geteuid() == 0 {
      arguments.append("--no-sandbox")
    } else {
      arguments.removeAll { $0 == "--no-zygote" }
    }
    return arguments
  }

  func send(_ message: JSONValue) throws(BrowserError) {
    let bytes = Array(message.description.utf8) + [0]
    do throws(SystemError) { try commands?.writeAll(bytes) } catch {
      throw BrowserError("the browser has exited: \(error)\n\(standardErrorText)")
    }
  }

  /// Returns the next message; nil on a timeout.
  func receive(until deadline: MonotonicTime) throws(BrowserError) -> JSONValue? {
    while true {
      if let end = pending[scannedCount...].firstIndex(of: 0) {
        let message = pending[..<end]
        let value = try JSONValue(parsing: message)
        pending.removeSubrange(...end)
        scannedCount = 0
        return value
      }
      scannedCount = pending.count
      guard try waitForMore(until: deadline) else { return nil }
    }
  }

  /// Waits for bytes from the browser and appends them to `pending`; false on a timeout.
  private func waitForMore(until deadline: MonotonicTime) throws(BrowserError) -> Bool {
    var item = pollfd(fd: answers.rawValue, events: Int16(POLLIN), revents: 0)
    let left = deadline.since(SystemClock.monotonic())
    guard poll(&item, 1, CInt(clamping: left.milliseconds)) > 0 else { return false }
    var room = [UInt8](repeating: 0, count: 1 << 16)
    let outcome: ReadResult
    do { outcome = try room.withUnsafeMutableBytes { try answers.read(into: $0) } } catch {
      throw BrowserError("the browser's messages cannot be read: \(error)")
    }
    guard case .bytes(let count) = outcome else {
      throw BrowserError("the browser has exited\n\(standardErrorText)")
    }
    pending += room[..<count]
    return true
  }
}
