// Owns a bank that lives in the foreground of this program: everything that can happen to it, in order.
// Invariant: signals are held back before the coordinator starts, so none can end this program without it.
// Failure: CommandError. Whoever lets go of a bank that has not ended calls `end()` first.
import BankModel
import ControlClient
import Glibc
import Posix
import Time
import Wire

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

  private struct Line {
    let connection: ControlConnection
    let registration: Registration
  }

  private let wait: InterruptibleWait
  private let launched: LaunchedBank
  private var coordinator: Line?
  private var newsLine: Line?
  private var pending: [Happening] = []
  private var interruptions = 0

  private init(_ wait: InterruptibleWait, _ launched: LaunchedBank) {
    self.wait = wait
    self.launched = launched
  }

  static func begin(_ session: Session) throws(CommandError) -> ForegroundBank {
    session.letBankGo()
    var order = try session.openingOrder(juice: 0)
    order.endsWithLauncher = true
    let wait = try InterruptibleWait()
    do throws(CommandError) {
      let launched = try fromControl(session.surroundings.launcher().launch(order, standardError: .inherit))
      let bank = ForegroundBank(wait, launched)
      bank.coordinator = try bank.watch(launched.connection)
      return bank
    } catch {
      wait.release()
      throw error
    }
  }

  /// Says goodbye: a coordinator that still runs is killed, which loses nothing, and signals mean what they
  /// used to.
  /// - Returns: How the coordinator ended.
  @discardableResult
  func end(within patience: TimeSpan = .seconds(10)) -> ExitStatus {
    defer { wait.release() }
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
    Line(connection: connection, registration: try wait.loop.listen(to: connection))
  }

  func next() throws(CommandError) -> Happening {
    while true {
      if !pending.isEmpty { return pending.removeFirst() }
      try collect()
      if pending.isEmpty { try wait.loop.turn(until: nil) }
    }
  }

  private func collect() throws(CommandError) {
    while interruptions < wait.count {
      interruptions += 1
      pending.append(.interrupted(interruptions))
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
      while let reply = try line.connection.next(until: MonotonicTime(nanoseconds: 0)) {
        pending.append(happening(reply))
      }
      return false
    } catch {
      wait.loop.deregister(line.registration)
      if error == .lost { return true }
      throw .control(error)
    }
  }
}
