// Owns a bank that lives in the foreground of this program: everything that can happen to it, one after the
// other.
// Invariant: signals are held back before the coordinator starts, so none can end this program and leave it
// behind.
// Failure: CommandError. Whoever lets go of a bank that has not ended calls `end()` first.
import BankModel
import ControlClient
import Glibc
import Posix
import Wire

/// A coordinator as a child, the conversation with it, and this program's signals.
final class ForegroundBank {
  enum Happening {
    /// The coordinator answered on its own conversation.
    case reply(ControlReply)
    /// Something came on the second conversation.
    case news(ControlReply)
    /// Somebody wants it to end, for the n-th time.
    case interrupted(Int)
    /// The coordinator's own conversation has ended.
    case ended
    /// The second conversation has ended.
    case newsEnded
  }

  private final class Bell {
    var rings = 0
    var heard = 0
  }

  private struct Line {
    let connection: ControlConnection
    let registration: Registration
  }

  /// The signals by which somebody says that it shall end.
  static let signals: [CInt] = [SIGINT, SIGTERM, SIGHUP]

  private let loop: EventLoop
  private let source: SignalSource
  private let bell: Bell
  private let launched: LaunchedBank
  private var coordinator: Line?
  private var newsLine: Line?
  private var pending: [Happening] = []

  private init(_ loop: EventLoop, _ source: SignalSource, _ bell: Bell, _ launched: LaunchedBank) {
    self.loop = loop
    self.source = source
    self.bell = bell
    self.launched = launched
  }

  static func begin(_ session: Session) throws(CommandError) -> ForegroundBank {
    session.letBankGo()
    var order = try session.openingOrder(juice: 0)
    order.endsWithLauncher = true
    let bell = Bell()
    let loop: EventLoop
    let source: SignalSource
    do throws(SystemError) {
      loop = try EventLoop()
      source = try SignalSource(signals, on: loop) { _ in bell.rings += 1 }
    } catch {
      throw .system(error)
    }
    let launched: LaunchedBank
    do throws(ControlError) {
      launched = try session.surroundings.launcher().launch(order, standardError: .inherit)
    } catch {
      letSignalsThrough()
      throw .control(error)
    }
    let bank = ForegroundBank(loop, source, bell, launched)
    bank.coordinator = try bank.watch(launched.connection)
    return bank
  }

  private static func letSignalsThrough() {
    // It fails for what is no signal, and these are.
    try? Signals.unblock(signals)
  }

  /// Says goodbye: a coordinator that still runs is killed, which loses nothing, and signals mean what they
  /// used to.
  ///
  /// - Returns: How the coordinator ended.
  @discardableResult
  func end(within patience: Duration = .seconds(10)) -> ExitStatus {
    defer { Self.letSignalsThrough() }
    if let status = launched.awaitExit(until: SystemClock.monotonic() + patience) { return status }
    launched.process.kill(SIGKILL)
    return launched.process.wait()
  }

  func send(_ command: ControlCommand) throws(CommandError) {
    guard let coordinator else { return }
    do throws(ControlError) { try coordinator.connection.send(command) } catch {
      // That it is gone comes out as a happening, with everything it had still said before.
      if error != .lost { throw .control(error) }
    }
  }

  func listen(to connection: ControlConnection) throws(CommandError) { newsLine = try watch(connection) }

  private func watch(_ connection: ControlConnection) throws(CommandError) -> Line {
    do throws(SystemError) {
      // What is there is looked for after every turn of the loop; the handler only has to wake it.
      return Line(
        connection: connection,
        registration: try loop.register(fd: connection.fd, interest: .read) { _ in })
    } catch {
      throw .system(error)
    }
  }

  func next() throws(CommandError) -> Happening {
    while true {
      if !pending.isEmpty { return pending.removeFirst() }
      try collect()
      if !pending.isEmpty { continue }
      do throws(SystemError) { try loop.runOnce(until: nil) } catch { throw .system(error) }
    }
  }

  private func collect() throws(CommandError) {
    while bell.heard < bell.rings {
      bell.heard += 1
      pending.append(.interrupted(bell.heard))
    }
    if let line = newsLine, try drain(line, as: Happening.news) {
      newsLine = nil
      pending.append(.newsEnded)
    }
    if let line = coordinator, try drain(line, as: Happening.reply) {
      coordinator = nil
      pending.append(.ended)
    }
  }

  /// Takes everything that has come. Returns whether nothing will come any more.
  private func drain(_ line: Line, as happening: (ControlReply) -> Happening) throws(CommandError) -> Bool {
    do throws(ControlError) {
      while let reply = try line.connection.next(until: MonotonicInstant(nanoseconds: 0)) {
        pending.append(happening(reply))
      }
      return false
    } catch {
      loop.deregister(line.registration)
      if error == .lost { return true }
      throw .control(error)
    }
  }
}
