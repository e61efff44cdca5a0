// Program in a terminal: standard input, output and error are a pseudo-terminal, the controlling one of its own
// session, so that Ctrl-C and a hang-up work as usual. A program that exceeds its time limit is killed; closing the
// terminal is a hang-up.
import Foundation
import Glibc
import Testing

final class TerminalProgram {
  // Constants of <asm-generic/ioctls.h> and <spawn.h> that Swift's module lacks. ioctl_tty(2), posix_spawn(3)
  private static let unlock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430
  private static let newSession: Int16 = 0x80
  private static let resize: UInt = 0x5414

  private var process: StartedProcess
  var pid: pid_t { process.pid }
  private var master: Int32
  private(set) var screen = ""
  /// Output since the last change of size, for the grid.
  private var written: [UInt8] = []
  private var size: (columns: UInt16, rows: UInt16)?

  /// - Parameters:
  ///   - program: Program to start: bankctl, or a shell in which it is typed.
  ///   - size: Columns and rows; nil for a terminal that reports none.
  init(
    _ branch: ScratchBank, _ arguments: [String], program: String = Binaries.bankctl,
    language: OutputLanguage = .en,
    path: String = "/usr/bin:/bin", size: (columns: UInt16, rows: UInt16)? = nil
  ) throws {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    var number: Int32 = -1
    var lock: Int32 = 0
    guard master >= 0, ioctl(master, Self.unlock, &lock) == 0, ioctl(master, Self.number, &number) == 0 else {
      throw TestFailure("no pseudo-terminal: \(String(cString: strerror(errno)))")
    }
    if let size { Self.resize(master, columns: size.columns, rows: size.rows) }
    self.size = size
    let name = "/dev/pts/\(number)"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Opened by the leader of a new session, the first terminal becomes the controlling one. tty_ioctl(4)
    posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    let environment = [
      "PATH=\(path)", "HOME=\(branch.path("elsewhere"))", "LANG=C.UTF-8", "TERM=xterm",
      "BANK_HOME=\(branch.home)", "BANK_LANG=\(language.rawValue)", "\(ProcessTable.mark)=\(branch.path(""))",
    ]
    process = try StartedProcess(
      [program] + arguments, environment: environment.map(\.trimmed), &actions, flags: Self.newSession)
  }

  deinit {
    hangUp()
    end()
  }

  /// Kills the program if it still runs.
  private func end() {
    if !process.end(group: false) { Issue.record("a program in a terminal survives SIGKILL:\n\(screen)") }
  }

  /// Presses keys; `\u{3}` is Ctrl-C. Waits while the buffer of the terminal is full.
  func type(_ keys: String, at location: SourceLocation = #_sourceLocation) {
    var rest = Array(keys.utf8)[...]
    let deadline = ContinuousClock.now + TimeLimits.scaled(.seconds(15))
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
        continue
      }
      // A closed terminal accepts no keys, and the test does not need them.
      guard count < 0, errno == EAGAIN || errno == EINTR else { return }
      guard ContinuousClock.now < deadline else {
        Issue.record("no program reads the typed keys:\n\(screen)", sourceLocation: location)
        return
      }
      var item = pollfd(fd: master, events: Int16(POLLOUT), revents: 0)
      _ = poll(&item, 1, 20)
    }
  }

  /// Changes the size of the terminal, which sends SIGWINCH to its programs. ioctl_tty(2) TIOCSWINSZ
  func resize(columns: UInt16, rows: UInt16) {
    (size, written) = ((columns, rows), [])
    Self.resize(master, columns: columns, rows: rows)
  }

  private static func resize(_ master: Int32, columns: UInt16, rows: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, resize, &size)
  }

  /// True if the terminal reads whole lines and echoes input, as it does when a program starts.
  var isInLineMode: Bool {
    var settings = termios()
    guard tcgetattr(master, &settings) == 0 else { return false }
    let both = tcflag_t(ICANON | ECHO | ISIG)
    return settings.c_lflag & both == both
  }

  /// Clears the recorded screen, so that only later output is waited for.
  func clear() { screen = "" }

  /// Closes the terminal window.
  func hangUp() {
    guard master >= 0 else { return }
    close(master)
    master = -1
  }

  /// Lines on the screen, after carriage returns, erased line ends and colours are applied.
  var lines: [String] {
    var lines: [[Unicode.Scalar]] = [[]]
    var column = 0
    var rest = screen.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\n":
        lines.append([])
        column = 0
      case "\r": column = 0
      case "\u{1B}":
        // ESC [ numbers letter. ECMA-48, 5.4
        guard rest.first == "[" else { continue }
        let numbers = rest.dropFirst().prefix { !(0x40...0x7E).contains($0.value) }
        rest = rest[numbers.endIndex...]
        guard rest.popFirst() == "K" else { continue }
        let kept = String(numbers) == "2" ? 0 : min(column, lines[lines.count - 1].count)
        lines[lines.count - 1].removeLast(lines[lines.count - 1].count - kept)
      default:
        var line = lines.removeLast()
        while line.count < column { line.append(" ") }
        if column < line.count { line[column] = scalar } else { line.append(scalar) }
        lines.append(line)
        column += 1
      }
    }
    return lines.map { line in
      var text = String.UnicodeScalarView()
      text.append(contentsOf: line)
      return String(text)
    }
  }

  /// Screen of a terminal of known size after all output.
  var grid: TerminalGrid {
    var grid = TerminalGrid(columns: Int(size?.columns ?? 80), rows: Int(size?.rows ?? 24))
    grid.take(String(decoding: written, as: UTF8.self).unicodeScalars)
    return grid
  }

  /// Waits until the lines of the screen satisfy a condition, and returns them.
  @discardableResult
  func waitUntil(
    _ what: String, at location: SourceLocation = #_sourceLocation, _ isSo: ([String]) -> Bool
  ) throws -> [String] {
    let deadline = ContinuousClock.now + TimeLimits.scaled(.seconds(15))
    while true {
      let lines = grid.lines
      if isSo(lines) { return lines }
      guard ContinuousClock.now < deadline else {
        throw TestFailure("never: \(what)\n" + lines.joined(separator: "\n"), at: location)
      }
      read(for: 20)
    }
  }

  /// Waits until this text is on the screen.
  func waitFor(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
    let deadline = ContinuousClock.now + TimeLimits.scaled(.seconds(15))
    while !screen.contains(text) {
      guard ContinuousClock.now < deadline else {
        throw TestFailure("\(text.debugDescription) does not appear:\n\(screen)", at: location)
      }
      read(for: 20)
    }
  }

  /// Waits for the end, and returns the exit code; 128 plus the signal if a signal ended the program.
  func finish(at location: SourceLocation = #_sourceLocation) throws -> Int32 {
    let deadline = ContinuousClock.now + TimeLimits.scaled(.seconds(15))
    while ContinuousClock.now < deadline {
      if master >= 0 { read(for: 10) } else { Polling.pause(milliseconds: 10) }
      guard let code = process.exitCode() else { continue }
      if master >= 0 { read(for: 0) }
      return code
    }
    end()
    throw TestFailure("still running:\n\(screen)", at: location)
  }

  /// Reads the next output, and waits for it at most this time.
  func read(for milliseconds: Int32) {
    var item = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard poll(&item, 1, milliseconds) > 0, item.revents & Int16(POLLIN) != 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(master, &buffer, buffer.count)
    guard count > 0 else { return }
    screen += String(decoding: buffer[..<count], as: UTF8.self)
    if size != nil { written += buffer[..<count] }
  }
}

extension String {
  /// Path without a trailing slash.
  fileprivate var trimmed: String { hasSuffix("/") ? String(dropLast()) : self }
}
