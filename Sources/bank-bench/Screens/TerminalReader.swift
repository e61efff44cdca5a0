// A command in a terminal, whose output is read and discarded.
// Invariant: when the reader is ready, the command has drawn on the terminal. Before its exit the reader kills
// the command.
// Errors: BenchFailure, SystemError.
import Glibc
import Posix
import Time

enum TerminalReader {
  /// First argument that makes this program a reader.
  static let modeArgument = "terminal"
  // Constants of <asm-generic/ioctls.h> that the Glibc module does not contain. ioctl_tty(2)
  private static let (unlock, number, resize): (UInt, UInt, UInt) = (0x4004_5431, 0x8004_5430, 0x5414)

  /// Main function of the process that reads a terminal. `command` is the program in it, with its arguments.
  static func watch(_ command: [String]) throws {
    let loop = try EventLoop()
    let channel = LoadProcessChannel()
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    var (lock, terminal, size): (CInt, CInt, winsize) = (
      0, 0, winsize(ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0)
    )
    guard master >= 0, ioctl(master, unlock, &lock) == 0, ioctl(master, number, &terminal) == 0,
      ioctl(master, resize, &size) == 0
    else { throw SystemError(call: "open", subject: "/dev/ptmx", code: errno) }
    let pid = try start(command, at: "/dev/pts/\(terminal)")
    defer {
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { room.deallocate() }
    var (bytes, isWanted, isLeft) = (Int64(0), true, false)
    _ = try loop.register(fd: master, interest: .read) { _ in
      let count = read(master, room.baseAddress, room.count)
      if count > 0 { bytes += Int64(count) } else { isLeft = isLeft || errno != EAGAIN }
    }
    let patience = SystemClock.monotonic() + .seconds(30)
    while bytes < 1_024, !isLeft, SystemClock.monotonic() < patience { try loop.runOnce(until: patience) }
    guard bytes >= 1_024 else { throw BenchFailure("nothing was drawn by \(command.joined(separator: " "))") }
    try channel.send(0)
    bytes = 0
    try channel.onLeave(loop) { isWanted = false }
    while isWanted, !isLeft { try loop.runOnce(until: nil) }
    guard !isLeft else { throw BenchFailure("\(command.joined(separator: " ")) ended early") }
    try channel.send(bytes)
  }

  /// Starts a command with the terminal as its standard streams.
  private static func start(_ command: [String], at terminal: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in CInt(0)...2 {
      posix_spawn_file_actions_addopen(&actions, descriptor, terminal, O_RDWR, 0)
    }
    posix_spawn_file_actions_addclose(&actions, 3)
    var words = command.map { strdup($0) } + [nil]
    var settings = ["LANG=C.UTF-8", "TERM=xterm-256color"].map { (text: String) in strdup(text) } + [nil]
    defer { (words + settings).forEach { free($0) } }
    var pid = pid_t()
    let code = posix_spawn(&pid, command[0], &actions, nil, &words, &settings)
    guard code == 0 else { throw SystemError(call: "posix_spawn", subject: command[0], code: code) }
    return pid
  }
}
