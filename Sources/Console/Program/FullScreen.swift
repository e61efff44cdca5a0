// Owns the terminal while a command fills all of it: its raw mode, its other screen, its keys, its size, and the signals
// that would end or stop this program meanwhile.
// Invariant: however it ends, by a key, by a signal or by a failure, and as long as the program is stopped, the terminal
// is as it was before. What is typed behind a Ctrl-C is not taken from the terminal: it is meant for the shell.
// Failure: CommandError. A terminal that is gone ends it, because nobody sits in front of it.
import Glibc
import Posix
import Time

final class FullScreen {
  /// The signal by which this program is to end, a Ctrl-C included.
  private(set) var signal: CInt?
  private(set) var failure: CommandError?
  /// Whether something has changed since it was last drawn.
  var isDirty = true
  /// Whether whoever shows something is done, so that further keys are not taken.
  private(set) var isClosed = false
  /// Whether somebody has left twice, so that no answer is waited for any more.
  private(set) var isAbandoned = false

  private let output: Output
  private let loop: EventLoop
  private var terminal: RawTerminal?
  private var source: SignalSource?
  private var registration: Registration?
  private var press: (Key) -> Void = { _ in }
  private var keys = KeyDecoder()
  private var escapeBy: MonotonicTime?
  private var isGone = false
  private var isShown = false
  /// What stands on the terminal; nil where nobody knows.
  private var drawn: (lines: [String], size: Terminal.Size?)?

  /// How long the rest of a key's sequence may take; a lone escape is known by nothing following it.
  private static let sequencePatience = TimeSpan.milliseconds(50)
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT]
  /// The other screen with the cursor hidden and with pasted text told apart from keys, and back. xterm's ctlseqs,
  /// DECSET 1049, 25 and 2004
  private static let begin = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h"
  private static let end = "\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"
  /// What stands between them is shown at once and not line by line. A terminal that does not know a private mode skips it
  /// (ECMA-48, DEC STD 070), so that nobody has to be asked first. DECSET 2026
  private static let beginUpdate = "\u{1B}[?2026h"
  private static let endUpdate = "\u{1B}[?2026l"

  /// Takes the terminal over. Nothing shows, and no key is taken, before ``begin(_:)``; a Ctrl-C is heard as the signal that
  /// it is elsewhere.
  init(_ output: Output, on loop: EventLoop) throws(CommandError) {
    self.output = output
    self.loop = loop
    do throws(SystemError) {
      // Blocked before the terminal is taken over, so that none can come in between.
      source = try SignalSource(Self.signals, on: loop) { [unowned self] in hear($0.signal) }
      if Terminal.isTerminal(STDIN_FILENO) { terminal = try RawTerminal(hearsSignals: true) }
    } catch {
      end()
      throw .system(error)
    }
  }

  deinit { end() }

  /// Whether nothing more is to be shown: a signal has come, the terminal is gone, or it has failed.
  var isEnded: Bool { signal != nil || failure != nil || isGone }
  /// Whether there is nothing more to show or to wait for, unless something is asked that nobody has abandoned.
  func isOver(unless isBusy: Bool) -> Bool { isEnded || isClosed && (!isBusy || isAbandoned) }

  /// Turns to the other screen, and hands every key to `press` from now on.
  func begin(_ press: @escaping (Key) -> Void) throws(CommandError) {
    self.press = press
    show()
    guard let terminal else { return }
    try fromSystem(terminal.take())
    registration = try fromSystem(
      loop.register(fd: STDIN_FILENO, interest: .read) { [unowned self] _ in read() })
  }

  /// Gives the terminal back. Once is enough.
  func end() {
    if let registration { loop.deregister(registration) }
    registration = nil
    hide()
    terminal?.restore()
    terminal = nil
    guard source != nil else { return }
    source = nil
    // What has come too late to be heard here ends this program now, with its terminal in order. It fails for what is
    // no signal, and these are signals.
    try? Signals.unblock(Self.signals)
  }

  // MARK: - What is shown

  /// Draws these lines, none wider than the terminal and no more than it has, where something has changed: only those lines
  /// are written that are others than before.
  func draw(_ lines: (Terminal.Size?) -> [String]) throws(CommandError) {
    guard isDirty else { return }
    isDirty = false
    let size = Terminal.size
    let lines = lines(size)
    let text = ScreenUpdate.text(from: drawn.flatMap { $0.size == size ? $0.lines : nil }, to: lines, size)
    drawn = (lines, size)
    guard !text.isEmpty else { return }
    output.write(Self.beginUpdate + text + Self.endUpdate)
    try output.flush()
  }

  func close() { (isAbandoned, isClosed) = (isClosed, true) }

  private func show() {
    isShown = true
    isDirty = true
    drawn = nil
    output.write(Self.begin)
  }

  private func hide() {
    guard isShown else { return }
    isShown = false
    output.write(Self.end)
    try? output.flush()
  }

  // MARK: - Keys

  /// When ``settle()`` is to be called at the latest.
  var wake: MonotonicTime? { escapeBy }

  /// To be called after every turn of the loop.
  func settle() {
    guard let due = escapeBy, SystemClock.monotonic() >= due else { return }
    escapeBy = nil
    if let key = keys.settle() { hear(key) }
  }

  private func read() {
    guard let terminal else { return }
    do throws(SystemError) {
      // Byte by byte: what follows a Ctrl-C, or the key that closes, stays in the terminal for the shell.
      repeat {
        // A terminal that is gone has nobody in front of it.
        guard let bytes = try terminal.read(atMost: 1) else { return isGone = true }
        for key in keys.take(bytes) { hear(key) }
      } while !isEnded && !isClosed && terminal.hasInput
      escapeBy = keys.isWaiting ? SystemClock.monotonic() + Self.sequencePatience : nil
    } catch {
      failure = .system(error)
    }
  }

  private func hear(_ key: Key) {
    switch key {
    case .control("c"): signal = signal ?? SIGINT
    case .control("z"): stop(group: true)
    default:
      isDirty = true
      press(key)
    }
  }

  // MARK: - Signals

  private func hear(_ signal: CInt) {
    switch signal {
    // A terminal may have moved or cut its lines, even where it has the former size again.
    case SIGWINCH: (isDirty, drawn) = (true, nil)
    case SIGTSTP: stop(group: false)
    // Whoever stopped this program without asking has left the terminal to somebody else meanwhile.
    case SIGCONT: if isShown { takeBack() }
    default: self.signal = self.signal ?? signal
    }
  }

  /// Stops this program with its terminal in order, and goes on when it is continued.
  private func stop(group: Bool) {
    let wasShown = isShown
    hide()
    terminal?.restore()
    do throws(SystemError) { try Signals.stop(group: group) } catch { failure = .system(error) }
    if wasShown { takeBack() }
  }

  private func takeBack() {
    do throws(SystemError) { try terminal?.take() } catch { failure = .system(error) }
    show()
  }
}
