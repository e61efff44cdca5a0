// One connection of a chaos run's client: it never blocks, and can be ended in the middle of a frame.
// Invariant: after its end it sends and receives nothing.
// Errors: any error ends the connection, which is normal here.
import ControlClient
import Posix
import Wire

final class ChaosConnection {
  private(set) var isOpen = true
  private let socket: FileDescriptor
  private let loop: EventLoop
  private let registration: Registration
  private var inbound = FrameDecoder(maximumBodyLength: FrameLimits.control)
  private var lastNumber: UInt32 = 0
  private let chunk: UnsafeMutableRawBufferPointer

  /// Connects and sends hello without waiting for the welcome; nil if the connection cannot be made.
  init?(to home: BankHome, on loop: EventLoop) {
    guard let outcome = try? UnixSocket.connect(path: home.socket, nonBlocking: true),
      case .connected(let socket) = consume outcome,
      // The handler does nothing: data only wakes the loop, and the owner of the connection reads it.
      let registration = try? loop.register(fd: socket.rawValue, interest: .read, handler: { _ in })
    else { return nil }
    self.socket = socket
    (self.loop, self.registration) = (loop, registration)
    chunk = .allocate(byteCount: 64 << 10, alignment: 16)
    write(.hello(Hello(build: ControlConnection.build, role: .client)))
  }

  deinit {
    close()
    chunk.deallocate()
  }

  /// Ends the connection; the descriptor is closed with the object.
  func close() {
    guard isOpen else { return }
    isOpen = false
    loop.deregister(registration)
  }

  /// Sends a request. Returns its number.
  func send(_ command: ControlCommand) -> UInt32 {
    lastNumber += 1
    write(.request(ControlRequest(number: lastNumber, command: command)))
    return lastNumber
  }

  /// Sends a request, or only its first bytes if `isWhole` is false, and closes the connection. `pick` selects how many
  /// bytes are sent.
  func sendAndCut(_ command: ControlCommand, pick: UInt64, isWhole: Bool) {
    lastNumber += 1
    let bytes = Self.frame(.request(ControlRequest(number: lastNumber, command: command)))
    let count = isWhole ? bytes.count : 1 + Int(pick % UInt64(max(bytes.count - 1, 1)))
    write(Array(bytes.prefix(count)))
    close()
  }

  /// Reads and decodes all answers that have arrived.
  func take() -> [ControlReply] {
    var replies: [ControlReply] = []
    while isOpen {
      switch try? socket.read(into: chunk) {
      case .bytes(let count): inbound.append(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
      case .wouldBlock: return replies + decoded()
      case .endOfFile, nil:
        replies += decoded()
        close()
      }
    }
    return replies
  }

  /// Decodes the complete frames that were read. A refusal or an undecodable frame ends the connection.
  private func decoded() -> [ControlReply] {
    var replies: [ControlReply] = []
    do {
      while let body = try inbound.next() {
        switch try CBORDecoder().decode(BankMessage.self, from: body) {
        case .reply(let reply): replies.append(reply)
        case .welcome: break
        case .refused: close()
        }
      }
    } catch {
      close()
    }
    return replies
  }

  private func write(_ message: ClientMessage) { write(Self.frame(message)) }

  /// Sends bytes. An incomplete write ends the connection: after few and small requests it means that the peer does not
  /// read.
  private func write(_ bytes: [UInt8]) {
    guard isOpen else { return }
    let result = bytes.withUnsafeBytes { try? socket.send($0) }
    if result != .bytes(bytes.count) { close() }
  }

  private static func frame(_ message: ClientMessage) -> [UInt8] {
    var bytes: [UInt8] = []
    try? FrameEncoder().append(message, to: &bytes, limit: FrameLimits.control)
    return bytes
  }
}
