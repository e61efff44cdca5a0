// Owns the terminal while the stock is edited: its raw mode, its other screen, its keys, its size, and the signals that
// would end this program meanwhile.
// It must not know what a key means (StockEditor does) nor how the editor looks (StockEditorPicture does).
// Invariant: however it ends, by a key, by a signal, or by a failure, the terminal is as it was before.
// Failure: CommandError. A stock service that is away is waited for on the screen; the person decides for how long.
import BankModel
import Glibc
import Posix
import StockClient

/// The stock editor on a terminal.
final class StockEditorScreen {
  private let session: Session
  private let counter: StockCounter
  private var editor: StockEditor
  private var keys = KeyDecoder()
  private var escapeBy: MonotonicInstant?
  private var isClosed = false
  /// Changes that the stock has not answered yet; they are waited for, unless somebody closes twice.
  private var outstanding = 0
  private var isAbandoned = false
  private var isDirty = true
  private var signal: CInt?
  private var failure: CommandError?

  /// How long the rest of a key's sequence may take; a lone escape is known by nothing following it.
  private static let sequencePatience = Duration.milliseconds(50)
  /// How long a change waits for a stock service that has just gone.
  private static let changePatience = Duration.seconds(5)
  /// How long the amounts may take to come before the editor opens without them.
  private static let picturePatience = Duration.seconds(1)
  private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  /// The other screen with the cursor hidden, and back. xterm's ctlseqs, DECSET 1049 and 25
  private static let begin = "\u{1B}[?1049h\u{1B}[?25l"
  private static let end = "\u{1B}[?25h\u{1B}[?1049l"

  /// Opens the editor, and returns when it was closed.
  static func run(_ session: Session) throws(CommandError) {
    guard session.surroundings.variable("TERM") != "dumb" else {
      return session.note(session.words.editorIsForPeople)
    }
    let counter = try StockCounter(session)
    let screen = StockEditorScreen(session, counter, try counter.assortment())
    try screen.edit()
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(_ session: Session, _ counter: StockCounter, _ assortment: Assortment) {
    self.session = session
    self.counter = counter
    editor = StockEditor(assortment, session.words)
  }

  private func edit() throws(CommandError) {
    let loop = counter.loop
    let terminal: RawTerminal
    let signals: SignalSource
    do throws(SystemError) {
      // Blocked before the terminal is taken over, so that none can come in between.
      signals = try SignalSource(Self.endings + [SIGWINCH, SIGTSTP], on: loop) { [unowned self] in
        hear($0.signal)
      }
      terminal = try RawTerminal()
    } catch {
      throw .system(error)
    }
    defer {
      // What has come too late to be heard here ends this program now, with its terminal in order.
      terminal.restore()
      withExtendedLifetime(signals) {}
      try? Signals.unblock(Self.endings + [SIGWINCH, SIGTSTP])
    }
    counter.client.follow { [unowned self] news in
      editor.hear(news)
      isDirty = true
    }
    // Whoever types ahead means the amounts, so they come first, unless that takes long.
    let patience = SystemClock.monotonic() + Self.picturePatience
    while editor.picture == nil, signal == nil, SystemClock.monotonic() < patience {
      try turn(until: patience)
    }
    session.output.write(Self.begin)
    defer {
      session.output.write(Self.end)
      try? session.output.flush()
    }
    try work(terminal, loop)
  }

  private func work(_ terminal: RawTerminal, _ loop: EventLoop) throws(CommandError) {
    let registration: Registration
    do throws(SystemError) {
      registration = try loop.register(fd: STDIN_FILENO, interest: .read) { [unowned self] _ in read(terminal)
      }
    } catch {
      throw .system(error)
    }
    defer { loop.deregister(registration) }
    while !isClosed || (outstanding > 0 && !isAbandoned), signal == nil, failure == nil {
      if editor.isConnected != counter.client.isConnected {
        editor.isConnected = counter.client.isConnected
        isDirty = true
      }
      if isDirty { try draw() }
      try turn(until: escapeBy)
      if let due = escapeBy, SystemClock.monotonic() >= due {
        escapeBy = nil
        if let key = keys.settle() { press(key) }
      }
    }
    if let failure { throw failure }
  }

  private func turn(until deadline: MonotonicInstant?) throws(CommandError) {
    do throws(StockClientError) { try counter.client.turn(until: deadline) } catch {
      throw session.words.refusal(error, trouble: counter.trouble)
    }
  }

  private func draw() throws(CommandError) {
    isDirty = false
    let lines = StockEditorPicture(editor: editor, palette: session.output.palette).lines(size: Terminal.size)
    session.output.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    try session.output.flush()
  }

  private func hear(_ signal: CInt) {
    // A size that has changed; Ctrl-Z is a key here, and from outside there is nothing to stop for.
    if signal == SIGWINCH { isDirty = true } else if signal != SIGTSTP { self.signal = self.signal ?? signal }
  }

  private func read(_ terminal: RawTerminal) {
    do throws(SystemError) {
      // A terminal that is gone has nobody in front of it.
      guard let bytes = try terminal.read() else { return (isClosed, isAbandoned) = (true, true) }
      for key in keys.take(bytes) { press(key) }
      escapeBy = keys.isWaiting ? SystemClock.monotonic() + Self.sequencePatience : nil
    } catch {
      failure = .system(error)
    }
  }

  private func press(_ key: Key) {
    isDirty = true
    guard let wish = editor.press(key) else { return }
    switch wish {
    case .close:
      (isAbandoned, isClosed) = (isClosed, true)
      if outstanding > 0 { editor.waits() }
    case .change(let item, let difference):
      guard !isClosed else { return }
      outstanding += 1
      let deadline = SystemClock.monotonic() + Self.changePatience
      counter.client.ask(.change(ItemAmount(item, difference), nil), until: deadline) { [weak self] result in
        guard let self else { return }
        self.outstanding -= 1
        self.editor.hear(result)
        self.isDirty = true
      }
    }
  }
}
