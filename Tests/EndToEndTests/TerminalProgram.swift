// A program that a person runs in a terminal: standard input, output and error are a pseudo-terminal that is the
// controlling one of a session of its own, so that Ctrl-C and a closed window reach it as they would reach it there.
// The program is killed where it does not end in time; closing the terminal is a hang-up.
import Foundation
import Glibc
import Testing

final class TerminalProgram {
  // What <asm-generic/ioctls.h> and <spawn.h> have and Swift's module has not. ioctl_tty(2), posix_spawn(3)
  private static let unlock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430
  private static let newSession: Int16 = 0x80
  private static let resize: UInt = 0x5414

  private var process: StartedProcess
  var pid: pid_t { process.pid }
  private var master: Int32
  private(set) var screen = ""
  /// What has come since the terminal has its size, for the picture of it.
  private var written: [UInt8] = []
  private var size: (columns: UInt16, rows: UInt16)?

  /// - Parameters:
  ///   - program: What is started: bankctl, or a shell in which it is typed.
  ///   - size: Columns and rows; a terminal that says nothing of them where it is left out.
  init(
    _ branch: Branch, _ words: [String], program: String = Binaries.bankctl, language: Tongue = .en,
    path: String = "/usr/bin:/bin", size: (columns: UInt16, rows: UInt16)? = nil
  ) throws {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    var number: Int32 = -1
    var lock: Int32 = 0
    guard master >= 0, ioctl(master, Self.unlock, &lock) == 0, ioctl(master, Self.number, &number) == 0 else {
      throw Trouble("no pseudo-terminal: \(String(cString: strerror(errno)))")
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
      [program] + words, environment: environment.map(\.trimmed), &actions, flags: Self.newSession)
  }

  deinit {
    hangUp()
    end()
  }

  /// Kills it where it still runs.
  private func end() {
    if !process.end(group: false) { Issue.record("a program in a terminal outlives SIGKILL:\n\(screen)") }
  }

  /// Presses keys; `\u{3}` is Ctrl-C. Where the terminal takes no more because nobody reads them, that is waited for.
  func type(_ keys: String, at location: SourceLocation = #_sourceLocation) {
    var rest = Array(keys.utf8)[...]
    let deadline = ContinuousClock.now + Patience.stretched(.seconds(15))
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
        continue
      }
      // A terminal that is closed takes no keys, and nobody misses them.
      guard count < 0, errno == EAGAIN || errno == EINTR else { return }
      guard ContinuousClock.now < deadline else {
        Issue.record("nobody reads what is typed:\n\(screen)", sourceLocation: location)
        return
      }
      var item = pollfd(fd: master, events: Int16(POLLOUT), revents: 0)
      _ = poll(&item, 1, 20)
    }
  }

  /// Gives the terminal another size, which whoever is in it is told by SIGWINCH. ioctl_tty(2) TIOCSWINSZ
  func resize(columns: UInt16, rows: UInt16) {
    (size, written) = ((columns, rows), [])
    Self.resize(master, columns: columns, rows: rows)
  }

  private static func resize(_ master: Int32, columns: UInt16, rows: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, resize, &size)
  }

  /// Whether the terminal reads whole lines and shows what is typed, as it does when a program begins.
  var isInLineMode: Bool {
    var settings = termios()
    guard tcgetattr(master, &settings) == 0 else { return false }
    let both = tcflag_t(ICANON | ECHO | ISIG)
    return settings.c_lflag & both == both
  }

  /// Forgets what stood on the screen, so that only what comes now is waited for.
  func clear() { screen = "" }

  /// Closes the terminal's window.
  func hangUp() {
    guard master >= 0 else { return }
    close(master)
    master = -1
  }

  /// The lines as they stand on the screen: after returns to the first column, erased ends of lines and colours.
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

  /// What stands on a terminal of known size, after everything that was written to it.
  var grid: TerminalGrid {
    var grid = TerminalGrid(columns: Int(size?.columns ?? 80), rows: Int(size?.rows ?? 24))
    grid.take(String(decoding: written, as: UTF8.self).unicodeScalars)
    return grid
  }

  /// Waits until the lines of the screen are so, and returns them.
  @discardableResult
  func waitUntil(
    _ what: String, at location: SourceLocation = #_sourceLocation, _ isSo: ([String]) -> Bool
  ) throws -> [String] {
    let deadline = ContinuousClock.now + Patience.stretched(.seconds(15))
    while true {
      let lines = grid.lines
      if isSo(lines) { return lines }
      guard ContinuousClock.now < deadline else {
        throw Trouble("never: \(what)\n" + lines.joined(separator: "\n"), at: location)
      }
      read(for: 20)
    }
  }

  /// Waits until this stands on the screen.
  func waitFor(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
    let deadline = ContinuousClock.now + Patience.stretched(.seconds(15))
    while !screen.contains(text) {
      guard ContinuousClock.now < deadline else {
        throw Trouble("\(text.debugDescription) does not appear:\n\(screen)", at: location)
      }
      read(for: 20)
    }
  }

  /// Waits for the end, and returns the exit code; 128 and the signal where it was ended by one.
  func finish(at location: SourceLocation = #_sourceLocation) throws -> Int32 {
    let deadline = ContinuousClock.now + Patience.stretched(.seconds(15))
    while ContinuousClock.now < deadline {
      if master >= 0 { read(for: 10) } else { Moment.pass(milliseconds: 10) }
      guard let code = process.exitCode() else { continue }
      if master >= 0 { read(for: 0) }
      return code
    }
    end()
    throw Trouble("still running:\n\(screen)", at: location)
  }

  /// Reads what comes, for as long as nothing has come.
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
  /// Without the slash at the end of a directory.
  fileprivate var trimmed: String { hasSuffix("/") ? String(dropLast()) : self }
}
