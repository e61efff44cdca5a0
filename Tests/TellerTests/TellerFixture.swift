// The coordinator's end of a connection for a test, in this process or with a child. A wait has a deadline
// that only a broken teller reaches.

import Glibc
import Logging
import Posix
import Testing
import Time
import Transport
import Wire

@testable import Teller

/// The common part of tests that play the coordinator: the channel, the messages received, a directory for
/// the log.
class TellerFixture {
  let loop: EventLoop
  let coordinator: MessageChannel<TellerMessage, MessageToTeller>
  let folder: String
  var received: [TellerMessage] = []
  var ends: [CloseReason] = []
  var log: String { folder + "/deposit-1.log" }
  /// The number of beats received.
  var beats: Int { received.count { if case .beat = $0 { true } else { false } } }

  init(_ descriptor: consuming FileDescriptor, loop: EventLoop) throws {
    self.loop = loop
    folder = "/tmp/teller-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
    try Directory.create(path: folder)
    coordinator = try MessageChannel(
      descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: 1 << 20)
    coordinator.onMessage = { [unowned self] in received.append($0) }
    coordinator.onEnd = { [unowned self] in ends.append($0) }
  }

  deinit {
    for name in (try? Directory.entries(of: folder)) ?? [] { _ = Glibc.remove("\(folder)/\(name)") }
    _ = Glibc.rmdir(folder)
  }

  func send(_ message: MessageToTeller) {
    coordinator.send(message)
    coordinator.flush()
  }

  func runIteration(until deadline: MonotonicTime) throws { try loop.runOnce(until: deadline) }

  func lines() throws -> [LogLine] {
    let bytes = try FileDescriptor.open(log, .readOnly).readAll()
    return try bytes.split(separator: UInt8(ascii: "\n")).map { try #require(LogLine.parse($0)) }
  }
}

extension TellerFixture {
  /// Runs the loop until the condition holds.
  static func wait<InProcessTeller: TellerFixture>(
    _ teller: InProcessTeller, until condition: (InProcessTeller) -> Bool
  ) throws {
    let deadline = SystemClock.monotonic() + .seconds(120)
    while !condition(teller) {
      try #require(SystemClock.monotonic() < deadline, "received \(teller.received), ended \(teller.ends)")
      try teller.runIteration(until: deadline)
    }
  }
}

/// A teller in this process, on the same loop.
final class InProcessTeller: TellerFixture {
  private(set) var teller: TellerProcess! = nil
  var complaints: [String] = []

  /// - Parameter provider: does the work, as a runner's does.
  init(provider: (any ResourceProvider)? = nil) throws {
    let pair = try UnixSocket.pair()
    let loop = try EventLoop()
    let far = pair.second
    try super.init(pair.first, loop: loop)
    teller = try TellerProcess(
      descriptor: far, loop: loop, provider: provider,
      reportError: { [unowned self] in complaints.append($0) })
  }

  override func runIteration(until deadline: MonotonicTime) throws {
    try teller.runIteration(until: deadline)
  }

  func wait(until condition: (InProcessTeller) -> Bool) throws { try Self.wait(self, until: condition) }

  func welcome(_ settings: TellerSettings) throws {
    send(.welcome(settings))
    try wait { $0.received.contains(.ready) }
  }
}

/// The built executable, as a child.
final class SpawnedTeller: TellerFixture {
  private var far: FileDescriptor?
  private var errors: String { folder + "/stderr" }

  init() throws {
    let pair = try UnixSocket.pair()
    let second = pair.second
    try super.init(pair.first, loop: try EventLoop())
    far = consume second
  }

  /// Starts `bank-teller`, which is built next to the executable of these tests.
  func start(withChannel: Bool = true) throws -> ChildProcess {
    let end = far.take()
    return try ChildProcess.spawn(
      executable: Paths.join(Paths.directory(of: try Paths.executable()), "bank-teller"),
      arguments: ["deposit-1", "1"], environment: [:], channel: withChannel ? end : nil,
      standardError: .append(path: errors))
  }

  func complaints() throws -> String {
    String(decoding: try FileDescriptor.open(errors, .readOnly).readAll(), as: UTF8.self)
  }

  func wait(until condition: (SpawnedTeller) -> Bool) throws { try Self.wait(self, until: condition) }
}
