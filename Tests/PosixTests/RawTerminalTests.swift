// A terminal that is read key by key, on a pseudo-terminal of the test's own.
import Glibc
import Posix
import Testing

@Suite("A terminal in raw mode") struct RawTerminalTests {
  /// The two ends of a pseudo-terminal that controls no process.
  private static func pair() throws -> (master: CInt, slave: CInt) {
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (number, lock) = (CInt(-1), CInt(0))
    // TIOCSPTLCK and TIOCGPTN, which are computed macros and so not imported. ioctl_tty(2)
    try #require(master >= 0 && ioctl(master, 0x4004_5431, &lock) == 0)
    try #require(ioctl(master, 0x8004_5430, &number) == 0)
    let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(slave >= 0)
    return (master, slave)
  }

  private func flags(_ descriptor: CInt) -> (isByLine: Bool, echoes: Bool, hearsSignals: Bool) {
    var settings = termios()
    tcgetattr(descriptor, &settings)
    func has(_ flag: CInt) -> Bool { settings.c_lflag & tcflag_t(flag) != 0 }
    return (has(ICANON), has(ECHO), has(ISIG))
  }

  @Test("gets Ctrl-C as a signal until its keys are read, and is restored in the end")
  func signals() throws {
    let (master, slave) = try Self.pair()
    defer { for end in [slave, master] { close(end) } }
    #expect(flags(slave) == (true, true, true))
    let terminal = try RawTerminal(slave, keepsSignals: true)
    #expect(flags(slave) == (false, false, true))
    try terminal.take()
    #expect(flags(slave) == (false, false, false))
    terminal.restore()
    #expect(flags(slave) == (true, true, true))
  }
}
