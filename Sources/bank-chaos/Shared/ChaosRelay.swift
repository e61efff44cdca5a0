// A process between a branch and its server: it forwards bytes, with a delay if one is set, and nothing while the
// branch is cut off. The relay is another process of this program, so that it continues while the run blocks.
// Invariant: bytes are forwarded in order. The relay exits with the run, when its channel is closed.
// Errors: a broken connection ends both of its sides.
import BankctlCommands
import Posix
import Time

final class ChaosRelay {
  /// First argument that makes this program a relay. The others are the run's mark, the directories of the
  /// relay's socket and of the server's, and the name of both sockets.
  static let argument = "--relay"
  /// Maximum number of waiting bytes on one side before reading pauses.
  private static let limit = 8 << 20

  /// One side of a relayed connection: the socket to the branch, or to the server.
  private final class End {
    let socket: FileDescriptor
    var other: End?
    var registration: Registration?
    /// Bytes to be written to this socket, and the times when they are due.
    var waiting: [(at: MonotonicTime, bytes: ArraySlice<UInt8>)] = []
    /// Number of waiting bytes.
    var size = 0
    /// True after the other side has ended: this side ends when all its bytes are written.
    var isEnding = false
    init(_ socket: consuming FileDescriptor) { self.socket = socket }
  }

  private let loop: EventLoop
  /// The channel to the run.
  private let commands: FileDescriptor
  private let listener: FileDescriptor
  /// Path of the server's socket.
  private let target: String
  private var listening: Registration?
  private var ends: [CInt: End] = [:]
  private var delay = TimeSpan.zero
  /// True while the branch is cut off.
  private var isSilent = false
  private var isOver = false

  /// Relays if the arguments request it, and returns the exit code; nil for any other arguments.
  static func run(_ arguments: [String]) -> Int32? {
    guard arguments.count == 5, arguments[0] == argument else { return nil }
    Signals.ignorePipe()
    do throws(SystemError) {
      let relay = try ChaosRelay(
        socket: Paths.join(arguments[2], arguments[4]), target: Paths.join(arguments[3], arguments[4]))
      try relay.runIteration()
      return 0
    } catch { return WorkMode.softwareErrorCode }
  }

  private init(socket: String, target: String) throws(SystemError) {
    loop = try EventLoop()
    commands = FileDescriptor(owning: 3)
    try commands.setNonBlocking(true)
    listener = try UnixSocket.listen(path: socket)
    try listener.setNonBlocking(true)
    self.target = target
    _ = try loop.register(fd: commands.rawValue, interest: .read) { [unowned self] _ in readCommands() }
    listen(true)
  }

  /// Relays until the run closes the channel.
  private func runIteration() throws(SystemError) {
    while !isOver {
      let next = isSilent ? nil : ends.values.compactMap { $0.waiting.first?.at }.min()
      _ = try loop.runOnce(until: next.map { max($0, SystemClock.monotonic()) })
      if !isSilent { for end in Array(ends.values) { write(end) } }
    }
  }

  /// Reads one command per line: `cut`, `mend` (reconnect), or the delay in each direction in milliseconds.
  private func readCommands() {
    var chunk = [UInt8](repeating: 0, count: 256)
    switch try? chunk.withUnsafeMutableBytes({ try commands.receive(into: $0) }) {
    case .bytes(let count):
      for line in String(decoding: chunk[..<count], as: UTF8.self).split(separator: "\n") {
        if let milliseconds = Int64(line) { delay = .milliseconds(milliseconds) }
        if line == "cut" { silence(true) }
        if line == "mend" { silence(false) }
      }
    case .wouldBlock: break
    case .endOfFile, nil: isOver = true
    }
  }

  /// Stops or resumes accepting and forwarding.
  private func silence(_ isSilent: Bool) {
    self.isSilent = isSilent
    listen(!isSilent)
    for end in ends.values { watch(end, !isSilent) }
  }

  /// Starts or stops accepting connections.
  private func listen(_ wanted: Bool) {
    if let listening { loop.deregister(listening) }
    listening = nil
    guard wanted else { return }
    listening = try? loop.register(fd: listener.rawValue, interest: .read) { [unowned self] _ in accept() }
  }

  /// Starts or stops reading from a side; too many waiting bytes at the other side prevent it.
  private func watch(_ end: End, _ wanted: Bool) {
    if let registration = end.registration { loop.deregister(registration) }
    end.registration = nil
    guard wanted, !end.isEnding, (end.other?.size ?? 0) < Self.limit else { return }
    end.registration = try? loop.register(fd: end.socket.rawValue, interest: .read) {
      [unowned self, unowned end] _ in
      read(end)
    }
  }

  /// Accepts a connection, and connects to the server for it.
  private func accept() {
    guard let client = try? UnixSocket.accept(listener) else { return }
    guard let outcome = try? UnixSocket.connect(path: target), case .connected(let server) = consume outcome
    else {
      return
    }
    let (near, far) = (End(client), End(server))
    (near.other, far.other) = (far, near)
    for end in [near, far] {
      try? end.socket.setNonBlocking(true)
      ends[end.socket.rawValue] = end
      watch(end, true)
    }
  }

  /// Reads from a side, and queues the bytes for the other side.
  private func read(_ end: End) {
    guard let other = end.other else { return }
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    switch try? chunk.withUnsafeMutableBytes({ try end.socket.receive(into: $0) }) {
    case .bytes(let count):
      other.waiting.append((SystemClock.monotonic() + delay, chunk[..<count]))
      other.size += count
      if other.size >= Self.limit { watch(end, false) }
    case .wouldBlock: break
    case .endOfFile, nil:
      other.isEnding = true
      close(end)
    }
  }

  /// Writes the bytes that are due. If the other side has ended, ends this one after its last byte.
  private func write(_ end: End) {
    let now = SystemClock.monotonic()
    while let first = end.waiting.first, first.at <= now {
      switch try? first.bytes.withUnsafeBytes({ try end.socket.send($0) }) {
      case .bytes(let count):
        end.size -= count
        if count < first.bytes.count {
          end.waiting[0] = (now, first.bytes.dropFirst(count))
        } else {
          end.waiting.removeFirst()
        }
        if let other = end.other, other.registration == nil { watch(other, true) }
      case .wouldBlock:
        // The write is retried soon, like that of delayed bytes.
        end.waiting[0].at = now + .milliseconds(1)
        return
      case .peerClosed, nil:
        if let other = end.other { close(other) }
        return close(end)
      }
    }
    if end.isEnding, end.waiting.isEmpty { close(end) }
  }

  /// Ends one side, and detaches it from the other one. Its socket is closed with the object.
  private func close(_ end: End) {
    watch(end, false)
    ends[end.socket.rawValue] = nil
    end.other?.other = nil
    end.other = nil
  }
}

/// A branch's relay, as controlled by the run.
final class ChaosRelayProcess {
  /// Directory of the relay's socket.
  let directory: String
  private let process: ChildProcess
  private let commands: FileDescriptor

  /// Starts the relay, and waits until its socket exists or the relay has exited.
  init(_ directory: String, to server: ChaosServer, mark: String) throws(SystemError) {
    self.directory = directory
    try Directory.create(path: directory, recursive: false)
    let pair = try UnixSocket.pair()
    let name = ".s.PGSQL.\(server.port)"
    process = try ChildProcess.spawn(
      executable: try Paths.executable(),
      arguments: [ChaosRelay.argument, mark, directory, server.directory ?? "/", name],
      environment: ChaosTool.variables, channel: pair.second, newSession: true)
    commands = pair.first
    while process.reap() == nil, try FileMetadata.inspect(Paths.join(directory, name)) == nil {
      Pause.momentarily()
    }
  }

  /// Stops forwarding and accepting. Connections stay open.
  func cut() { sendCommand("cut") }
  /// Resumes forwarding and accepting.
  func reconnect() { sendCommand("mend") }
  /// Sets the delay in each direction.
  func delay(_ span: TimeSpan) { sendCommand("\(span.milliseconds)") }

  private func sendCommand(_ argument: String) {
    _ = try? Array("\(argument)\n".utf8).withUnsafeBytes { try commands.send($0) }
  }

  func end() { process.end() }
}
