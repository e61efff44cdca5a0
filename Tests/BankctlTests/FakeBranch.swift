// A coordinator for tests: listens on a home of its own and answers by a script. It keeps no queue.
import BankModel
import ControlClient
import Dispatch
import Glibc
import Posix
import Synchronization
import Testing
import Wire

final class FakeBranch: Sendable {
  /// Reaction to a request.
  enum Step: Sendable {
    case answer(ControlAnswer)
    case more(ControlAnswer)
    /// Ends the connection.
    case hangUp
    /// Closes the socket to new connections too.
    case close
  }

  let home: BankHome
  private let script: @Sendable (ControlCommand, _ conversation: Int) -> [Step]
  private let heardCommands = Mutex<[ControlCommand]>([])
  private let conversationCount = Mutex(0)
  private let isClosed = Mutex(false)
  private let finished = DispatchSemaphore(value: 0)

  /// All requests received.
  var heard: [ControlCommand] { heardCommands.withLock { $0 } }

  /// Number of connections accepted.
  var conversations: Int { conversationCount.withLock { $0 } }

  init(_ script: @escaping @Sendable (ControlCommand, _ conversation: Int) -> [Step]) throws {
    home = BankHome(path: "/tmp/bank-fake-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())")
    self.script = script
    try Directory.create(path: Paths.directory(of: home.socket))
    let listener = try UnixSocket.listen(path: home.socket)
    let number = listener.take()
    Thread.start { [self] in
      serve(FileDescriptor(owning: number))
      finished.signal()
    }
  }

  /// Ends everything and removes the home.
  func end() {
    isClosed.withLock { $0 = true }
    // It checks a hundred times a second whether it is to end.
    if finished.wait(timeout: .now() + 60) == .timedOut {
      Issue.record("a fake branch does not end: \(heard)")
    }
    unlink(home.socket)
    rmdir(Paths.directory(of: home.socket))
    rmdir(home.path)
  }

  private func serve(_ listener: consuming FileDescriptor) {
    while !isClosed.withLock({ $0 }) {
      var item = pollfd(fd: listener.rawValue, events: Int16(POLLIN), revents: 0)
      guard poll(&item, 1, 10) == 1, let socket = try? UnixSocket.accept(listener) else { continue }
      let number = socket.take()
      let conversation = conversationCount.withLock {
        $0 += 1
        return $0
      }
      Thread.start { [self] in try? withOpenBank(FileDescriptor(owning: number), conversation) }
    }
  }

  private func withOpenBank(_ socket: consuming FileDescriptor, _ conversation: Int) throws {
    try socket.setNonBlocking(false)
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    while case .bytes(let count) = try socket.read(into: buffer) {
      decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      while let body = try decoder.next() {
        switch try CBORDecoder().decode(ClientMessage.self, from: body) {
        case .hello: try Self.say(.welcome(Welcome(build: "fake")), socket)
        case .request(let request):
          heardCommands.withLock { $0.append(request.command) }
          for step in script(request.command, conversation) {
            switch step {
            case .answer(let answer):
              try Self.say(.reply(.init(number: request.number, answer: answer)), socket)
            case .more(let answer):
              try Self.say(.reply(.init(number: request.number, answer: answer, more: true)), socket)
            case .hangUp: return
            case .close:
              isClosed.withLock { $0 = true }
              return
            }
          }
        }
      }
    }
  }

  private static func say(_ message: BankMessage, _ socket: borrowing FileDescriptor) throws {
    var bytes: [UInt8] = []
    try FrameEncoder().append(message, to: &bytes, limit: FrameLimits.control)
    try socket.writeAll(bytes)
  }
}

private enum Thread {
  /// A thread of its own, because conversations block.
  static func start(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "fake").async(execute: body)
  }
}
