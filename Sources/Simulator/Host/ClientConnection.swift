// A client's connection to the bank: a separate process with a channel.
// Invariant: messages are sent and received as that process. Unsent bytes are lost when the connection breaks.
import Posix
import Transport
import Wire

/// The connection of a simulated client to the coordinator.
final class ClientConnection {
  private typealias Channel = MessageChannel<BankMessage, ClientMessage>
  var onMessage: ((BankMessage) -> Void)?
  var onEnd: ((CloseReason) -> Void)?
  let process: SimulatedProcess
  /// The client's program, owned by its process, and released with it.
  private weak var program: ClientProgram<Channel>?

  init(on host: SimulatedHost) {
    process = host.start { _ in try? ClientProgram<Channel> { $0.flush() } }
    program = process.begin() as? ClientProgram<Channel>
  }

  /// Connects to the control socket of the coordinator. Returns false if that is impossible now.
  func connect(to path: String) -> Bool {
    process.call {
      guard let program else { return false }
      do throws(SystemError) {
        guard case .connected(let socket) = try UnixSocket.connect(path: path, nonBlocking: true) else {
          return false
        }
        let channel = try Channel(
          descriptor: socket, loop: program.loop, incomingLimit: FrameLimits.control, backlogLimit: 8 << 20)
        channel.onMessage = { [unowned self] in onMessage?($0) }
        channel.onEnd = { [unowned self] in onEnd?($0) }
        program.client = channel
        return true
      } catch {
        return false
      }
    }
  }

  /// Sends a message, as far as the connection accepts it.
  func send(_ message: ClientMessage) {
    process.call {
      program?.client?.send(message)
      program?.client?.flush()
    }
  }

  /// Breaks the connection, and returns the number of lost chunks.
  func breakConnection(on host: SimulatedHost) -> Int {
    process.streams.first?.breakConnection(at: host.now, on: host) ?? 0
  }
}
