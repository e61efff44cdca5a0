// A bank that runs in the foreground of this program, with its events in order.
// Invariant: the signals of `InterruptibleWait` are blocked before the coordinator starts, so none of them can end
// this program while the coordinator continues to run.
// Errors: `CommandError`. The owner must call `end()` before it releases a bank that has not ended.
import BankModel
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// Coordinator without a guardian that this program has launched, and the messages and signals of its run.
final class ForegroundBank {
  /// What happened to the bank or to this program.
  enum ForegroundEvent {
    /// Message on the coordinator's first connection.
    case reply(ControlReply)
    /// Message on the second connection, see `listen(to:)`.
    case eventMessage(ControlReply)
    /// The n-th signal that asks the bank to close.
    case interrupted(Int)
    /// The first connection was closed.
    case ended
    /// The second connection was closed.
    case eventsEnded
  }

  /// A connection to the coordinator, and its registration at the loop.
  private struct Connection {
    let connection: ControlConnection
    let registration: Registration
  }

  private let wait: InterruptibleWait
  private let launched: LaunchedBank
  private var coordinator: Connection?
  private var eventConnection: Connection?
  /// Events that `next()` has not returned yet, in order.
  private var pending: [ForegroundEvent] = []
  /// Number of signals that were added to `pending`.
  private var interruptions = 0

  private init(_ wait: InterruptibleWait, _ launched: LaunchedBank) {
    self.wait = wait
    self.launched = launched
  }

  /// Launches the coordinator of the bank. The coordinator ends with this program.
  static func begin(_ session: Session) throws(CommandError) -> ForegroundBank {
    session.awaitGuardianExit()
    var order = try session.openingOrder(juice: 0)
    order.endsWithLauncher = true
    let wait = try InterruptibleWait()
    do throws(CommandError) {
      let launched = try fromControl(session.environment.launcher().launch(order, standardError: .inherit))
      let bank = ForegroundBank(wait, launched)
      bank.coordinator = try bank.watch(launched.connection)
      return bank
    } catch {
      wait.release()
      throw error
    }
  }

  /// Waits for the coordinator's exit, kills the coordinator after `timeout`, and unblocks the signals.
  /// - Returns: Exit status of the coordinator.
  @discardableResult
  func end(within timeout: TimeSpan = .seconds(10)) -> ExitStatus {
    defer { wait.release() }
    if let status = launched.awaitExit(until: SystemClock.monotonic() + timeout) { return status }
    launched.process.kill(SIGKILL)
    return launched.process.wait()
  }

  /// Sends a request over the first connection; does nothing if that connection has ended.
  func send(_ command: ControlCommand) throws(CommandError) {
    guard let coordinator else { return }
    do throws(ControlError) { try coordinator.connection.send(command) } catch {
      // A lost connection is reported as an event.
      if error != .lost { throw .control(error) }
    }
  }

  /// Adds a second connection, whose messages are returned as `eventMessage`.
  func listen(to connection: ControlConnection) throws(CommandError) {
    eventConnection = try watch(connection)
  }

  /// Registers a connection at the loop.
  private func watch(_ connection: ControlConnection) throws(CommandError) -> Connection {
    Connection(connection: connection, registration: try wait.loop.listen(to: connection))
  }

  func next() throws(CommandError) -> ForegroundEvent {
    while true {
      if !pending.isEmpty { return pending.removeFirst() }
      try collect()
      if pending.isEmpty { try wait.loop.runIteration(until: nil) }
    }
  }

  /// Adds new signals and received messages to the pending events.
  private func collect() throws(CommandError) {
    while interruptions < wait.count {
      interruptions += 1
      pending.append(.interrupted(interruptions))
    }
    if let line = eventConnection, try drain(line, as: ForegroundEvent.eventMessage) {
      eventConnection = nil
      pending.append(.eventsEnded)
    }
    if let line = coordinator, try drain(line, as: ForegroundEvent.reply) {
      coordinator = nil
      pending.append(.ended)
    }
  }

  /// Adds all messages received on a connection to the pending events, converted by `event`. Returns true if the
  /// connection has ended.
  private func drain(_ line: Connection, as event: (ControlReply) -> ForegroundEvent) throws(CommandError)
    -> Bool
  {
    do throws(ControlError) {
      while let reply = try line.connection.next(until: MonotonicTime(nanoseconds: 0)) {
        pending.append(event(reply))
      }
      return false
    } catch {
      wait.loop.deregister(line.registration)
      if error == .lost { return true }
      throw .control(error)
    }
  }
}
