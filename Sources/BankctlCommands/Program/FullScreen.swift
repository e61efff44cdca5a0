// The terminal of a full-screen command: raw mode, alternate screen, keys, size, and the signals that would
// end or stop this program.
// Invariant: after a key, a signal or an error has ended the screen, and while Ctrl-Z or SIGTSTP has stopped the
// program, the terminal is in the state that it had before the screen. Input after a Ctrl-C stays in the terminal,
// because it is meant for the shell.
// Errors: `CommandError`. The screen ends if the terminal has hung up.
import Glibc
import Posix
import Time

/// Full-screen display of a command in the terminal.
final class FullScreen {
  /// First signal that ends this program, or SIGINT for a Ctrl-C; nil before.
  private(set) var signal: CInt?
  /// Error that ended the screen; nil without one.
  private(set) var failure: CommandError?
  /// True if the content has changed since the last drawing.
  var isDirty = true
  /// True after the command has closed its screen. Keys are still read while the command waits for pending answers.
  private(set) var isClosed = false
  /// True after the screen was closed a second time. The command then no longer waits for pending answers.
  private(set) var isAbandoned = false

  private let output: Output
  private let loop: EventLoop
  private var terminal: RawTerminal?
  private var source: SignalSource?
  private var registration: Registration?
  /// Receives the keys other than Ctrl-C and Ctrl-Z.
  private var press: (Key) -> Void = { _ in }
  private var keys = KeyDecoder()
  /// Time at which a pending Escape counts as the key; nil if no sequence is incomplete.
  private var escapeBy: MonotonicTime?
  /// True if the terminal has hung up.
  private var isGone = false
  /// True while the alternate screen is shown.
  private var isShown = false
  /// Lines that the terminal shows, and its size when they were drawn; nil if unknown.
  private var drawn: (lines: [String], size: Terminal.Size?)?

  /// Time limit for the rest of an escape sequence. A lone Escape is recognised by the absence of further
  /// bytes.
  private static let sequenceTimeout = TimeSpan.milliseconds(50)
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT]
  /// Output that switches to the alternate screen, hides the cursor and turns on bracketed paste; `end` reverts all
  /// three. Source: xterm ctlseqs, DECSET 1049, 25 and 2004.
  private static let begin = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h"
  private static let end = "\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"
  /// A terminal with this mode displays the output between these two sequences at once instead of line by line. Support
  /// need not be queried: a terminal skips private modes that it does not know (ECMA-48, DEC STD 070).
  /// Source: DECSET 2026.
  private static let beginUpdate = "\u{1B}[?2026h"
  private static let endUpdate = "\u{1B}[?2026l"

  /// Prepares the terminal. Nothing is drawn and no key is read before ``begin(_:)``. Until then a Ctrl-C arrives as
  /// the signal SIGINT.
  init(_ output: Output, on loop: EventLoop) throws(CommandError) {
    self.output = output
    self.loop = loop
    do throws(SystemError) {
      // The signals are blocked before the terminal changes, so that no signal can end the program in
      // between.
      source = try SignalSource(Self.signals, on: loop) { [unowned self] in handle($0.signal) }
      if Terminal.isTerminal(STDIN_FILENO) { terminal = try RawTerminal(keepsSignals: true) }
    } catch {
      end()
      throw .system(error)
    }
  }

  deinit { end() }

  /// True if nothing is drawn any more: after a signal or an error, or after the terminal has hung up.
  var isEnded: Bool { signal != nil || failure != nil || isGone }
  /// True if the screen can close. A closed screen still waits while `isBusy`, until the user has closed it
  /// twice.
  func isOver(unless isBusy: Bool) -> Bool { isEnded || isClosed && (!isBusy || isAbandoned) }

  /// Switches to the alternate screen, and passes keys to `press` from now on.
  func begin(_ press: @escaping (Key) -> Void) throws(CommandError) {
    self.press = press
    show()
    guard let terminal else { return }
    try fromSystem(terminal.take())
    registration = try fromSystem(
      loop.register(fd: STDIN_FILENO, interest: .read) { [unowned self] _ in read() })
  }

  /// Restores the terminal, and unblocks the signals. Further calls have no effect.
  func end() {
    if let registration { loop.deregister(registration) }
    registration = nil
    hide()
    terminal?.restore()
    terminal = nil
    guard source != nil else { return }
    source = nil
    // A signal that arrived too late for the handler ends this program when it is unblocked, after the terminal was
    // restored. `unblock` fails only for invalid signal numbers.
    try? Signals.unblock(Self.signals)
  }

  // MARK: - Drawing

  /// Draws the lines if the content has changed, and writes only lines that differ from the terminal's
  /// content. Lines must fit the terminal in width and number.
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

  /// Marks the screen as closed, or as abandoned if it was closed before.
  func close() { (isAbandoned, isClosed) = (isClosed, true) }

  /// Switches to the alternate screen, whose content is unknown afterwards.
  private func show() {
    isShown = true
    isDirty = true
    drawn = nil
    output.write(Self.begin)
  }

  /// Switches back from the alternate screen.
  private func hide() {
    guard isShown else { return }
    isShown = false
    output.write(Self.end)
    try? output.flush()
  }

  // MARK: - Keys

  /// Deadline for the next call of ``settle()``.
  var wakeTime: MonotonicTime? { escapeBy }

  /// Call after every iteration of the loop. Reports a lone Escape when its time limit has passed.
  func settle() {
    guard let due = escapeBy, SystemClock.monotonic() >= due else { return }
    escapeBy = nil
    if let key = keys.settle() { handle(key) }
  }

  /// Reads keys until the input is empty or a key ends or closes the screen.
  private func read() {
    guard let terminal else { return }
    do throws(SystemError) {
      // The input is read byte by byte, so that input after a Ctrl-C or the closing key stays in the terminal
      // for the shell.
      repeat {
        // At the end of the input, the terminal has hung up.
        guard let bytes = try terminal.read(atMost: 1) else { return isGone = true }
        for key in keys.take(bytes) { handle(key) }
      } while !isEnded && !isClosed && terminal.hasInput
      escapeBy = keys.isWaiting ? SystemClock.monotonic() + Self.sequenceTimeout : nil
    } catch {
      failure = .system(error)
    }
  }

  /// Handles Ctrl-C and Ctrl-Z, and passes every other key to the command.
  private func handle(_ key: Key) {
    switch key {
    case .control("c"): signal = signal ?? SIGINT
    case .control("z"): stop(group: true)
    default:
      isDirty = true
      press(key)
    }
  }

  // MARK: - Signals

  /// Handles a signal: resize, stop, continue, or the end of the program.
  private func handle(_ signal: CInt) {
    switch signal {
    // The terminal may have moved or cut lines even if it has its former size again.
    case SIGWINCH: (isDirty, drawn) = (true, nil)
    case SIGTSTP: stop(group: false)
    // After SIGSTOP the terminal was not restored, and another program may have changed it.
    case SIGCONT: if isShown { resume() }
    default: self.signal = self.signal ?? signal
    }
  }

  /// Suspends this program, with its process group if `group`: restores the terminal, stops, and redraws when
  /// continued.
  private func stop(group: Bool) {
    let wasShown = isShown
    hide()
    terminal?.restore()
    do throws(SystemError) { try Signals.stop(group: group) } catch { failure = .system(error) }
    if wasShown { resume() }
  }

  /// Sets raw mode and shows the alternate screen again, after the program was continued.
  private func resume() {
    do throws(SystemError) { try terminal?.take() } catch { failure = .system(error) }
    show()
  }
}
