// Owns the conversation of the stock editor: what the stock tells goes to the editor, and what the editor asks for to the
// stock.
// It must not know what a key means (StockEditor does), how the editor looks (StockEditorPicture does), nor how it comes to
// the terminal (FullScreen does).
// Invariant: a change that was asked for is waited for, unless somebody closes twice or presses Ctrl-C.
// Failure: CommandError. A stock service that is away is waited for on the screen; the person decides for how long.
import BankModel
import Posix
import StockClient

/// The stock editor on a terminal.
final class StockEditorScreen {
  private let session: Session
  private let counter: StockCounter
  private var editor: StockEditor
  private let screen: FullScreen
  private var isClosed = false
  /// Changes that the stock has not answered yet; they are waited for, unless somebody closes twice.
  private var outstanding = 0
  private var isAbandoned = false

  /// How long a change waits for a stock service that has just gone.
  private static let changePatience = Duration.seconds(5)
  /// How long the amounts may take to come before the editor opens without them.
  private static let picturePatience = Duration.seconds(1)

  /// Opens the editor, and returns when it was closed.
  static func run(_ session: Session) throws(CommandError) {
    guard session.surroundings.variable("TERM") != "dumb" else {
      return session.note(session.words.editorIsForPeople)
    }
    let counter = try StockCounter(session)
    let assortment = try counter.assortment()
    let screen = try FullScreen(session.output, on: counter.loop)
    defer { screen.end() }
    try StockEditorScreen(session, counter, assortment, screen).edit()
    screen.end()
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(
    _ session: Session, _ counter: StockCounter, _ assortment: Assortment, _ screen: FullScreen
  ) {
    self.session = session
    self.counter = counter
    self.screen = screen
    editor = StockEditor(assortment, session.words)
  }

  private func edit() throws(CommandError) {
    counter.client.follow { [unowned self] news in
      editor.hear(news)
      screen.isDirty = true
    }
    // Whoever types ahead means the amounts, so they come first, unless that takes long.
    let patience = SystemClock.monotonic() + Self.picturePatience
    while editor.picture == nil, !screen.isEnded, SystemClock.monotonic() < patience {
      try turn(until: patience)
    }
    guard !screen.isEnded else { return }
    try screen.begin { [unowned self] key in press(key) }
    while !screen.isEnded, !isClosed || (outstanding > 0 && !isAbandoned) {
      if editor.isConnected != counter.client.isConnected {
        editor.isConnected = counter.client.isConnected
        screen.isDirty = true
      }
      if screen.isDirty { try draw() }
      try turn(until: screen.wake)
      screen.settle()
    }
    if let failure = screen.failure { throw failure }
  }

  private func turn(until deadline: MonotonicInstant?) throws(CommandError) {
    do throws(StockClientError) { try counter.client.turn(until: deadline) } catch {
      throw session.words.refusal(error, trouble: counter.trouble)
    }
  }

  private func draw() throws(CommandError) {
    let size = Terminal.size
    let picture = StockEditorPicture(editor: editor, palette: session.output.palette)
    try screen.draw(picture.lines(size: size), size: size)
  }

  private func press(_ key: Key) {
    guard let wish = editor.press(key) else { return }
    switch wish {
    case .close:
      (isAbandoned, isClosed) = (isClosed, true)
      screen.isClosed = true
      if outstanding > 0 { editor.waits() }
    case .change(let item, let difference):
      guard !isClosed else { return }
      outstanding += 1
      let deadline = SystemClock.monotonic() + Self.changePatience
      counter.client.ask(.change(ItemAmount(item, difference), nil), until: deadline) { [weak self] result in
        guard let self else { return }
        self.outstanding -= 1
        self.editor.hear(result)
        self.screen.isDirty = true
      }
    }
  }
}
