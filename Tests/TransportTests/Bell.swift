// A fixture of a third service for tests: its clients and its socket are on one loop or on two.

import Glibc
import Posix
import ServiceFixture
import Testing
import Time
import Wire

@testable import Transport

typealias BellSocket = ServiceSocket<ServiceRequest<BellCommand>, BellAnswer>
typealias BellClient = ServiceClient<BellCommand>
typealias BellOutcome = Result<BellAnswer, ServiceClientError<BellCommand>>

/// A directory with the bell's socket.
final class BellFixture {
  static let patience = TimeSpan.seconds(120)

  let loop: EventLoop
  let socket: BellSocket
  let path: String
  private let directory: String

  init() throws {
    var template = Array("/tmp/bank-bell-XXXXXX".utf8CString)
    directory = template.withUnsafeMutableBufferPointer {
      mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? ""
    }
    path = directory + "/bell.sock"
    loop = try EventLoop()
    socket = BellSocket(loop: loop, build: "test")
  }

  deinit {
    socket.stopListening()
    unlink(path)
    rmdir(directory)
  }

  func client(helloTimeout: TimeSpan = .seconds(10)) -> BellClient {
    BellClient(socket: path, loop: loop, build: "test", helloTimeout: helloTimeout)
  }

  var deadline: MonotonicTime { SystemClock.monotonic() + Self.patience }

  /// Runs the loop and the client, if there is one, until a condition holds.
  func wait(_ client: BellClient? = nil, until condition: () throws -> Bool) throws {
    let deadline = deadline
    while try !condition() {
      let now = SystemClock.monotonic()
      try #require(now < deadline, "it did not happen")
      socket.flush()
      if let client {
        try client.runIteration(until: now + .milliseconds(20))
      } else {
        try loop.runOnce(until: now + .milliseconds(20))
      }
    }
  }

  /// Accepts all clients and answers their hello with this; returns the state of the connections.
  func speak(_ message: ServiceServerMessage<BellAnswer>?) throws -> UnrelatedServer {
    try UnrelatedServer(self, message)
  }
}

/// A listener on the bell's socket that is not a bell.
final class UnrelatedServer {
  typealias Channel = MessageChannel<
    ServiceClientMessage<ServiceRequest<BellCommand>>, ServiceServerMessage<BellAnswer>
  >

  /// Connections that were ended by the client.
  private(set) var ends = 0
  private var channels: [Channel] = []
  private var listener: Listener?

  init(_ fixture: BellFixture, _ message: ServiceServerMessage<BellAnswer>?) throws {
    let listener = try Listener(path: fixture.path, backlog: 16, loop: fixture.loop, refusalFrame: [])
    listener.onConnection = { [unowned self] descriptor in
      guard
        let channel = try? Channel(
          descriptor: descriptor, loop: fixture.loop, incomingLimit: FrameLimits.control,
          backlogLimit: 1 << 20)
      else { return }
      channels.append(channel)
      channel.onMessage = { [unowned channel] in
        guard case .hello = $0, let message else { return }
        channel.send(message)
        channel.flush()
      }
      channel.onEnd = { [unowned self] _ in ends += 1 }
    }
    self.listener = listener
  }

  deinit { listener?.stop() }
}
