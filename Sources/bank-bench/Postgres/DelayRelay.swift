// A relay that delays bytes in both directions, independently of the amount in flight. It simulates a network and
// runs in the loop of the measurement.
// Invariant: bytes keep their order, and none is lost while both ends are open.
// Errors: both ends of a broken connection are closed.
#if HAS_POSTGRES
  import Posix
  import Time

  final class DelayRelay {
    /// Directory of the relay's socket, for the parameter `host` of an address.
    let directory: String
    private let loop: EventLoop
    private let target: String
    private let delay: TimeSpan
    private let listener: FileDescriptor
    private var ends: [RelayEnd] = []

    /// One end of a relayed connection: the socket of the client, or of the server.
    private final class RelayEnd {
      let socket: FileDescriptor
      weak var other: RelayEnd?
      var registration: Registration?
      /// Bytes in flight to this end, and the times at which they arrive.
      var inFlight: [(due: MonotonicTime, bytes: ArraySlice<UInt8>)] = []
      init(_ socket: consuming FileDescriptor) { self.socket = socket }
    }

    /// - Parameters:
    ///   - server: the directory with the server's socket.
    ///   - delay: delay in each direction.
    init(to server: String, in directory: String, delay: TimeSpan, loop: EventLoop) throws {
      (self.directory, self.loop, self.delay) = (directory, loop, delay)
      try Directory.create(path: directory)
      let name = ".s.PGSQL.5432"
      target = Paths.join(server, name)
      listener = try UnixSocket.listen(path: Paths.join(directory, name))
      _ = try loop.register(fd: listener.rawValue, interest: .read) { [weak self] _ in try? self?.accept() }
    }

    deinit { Directory.removeTree(directory) }

    /// Time of the next arrival; nil if nothing is in flight.
    var nextDeadline: MonotonicTime? { ends.compactMap { $0.inFlight.first?.due }.min() }

    /// Forwards the bytes that are due.
    func finishIteration() {
      let now = SystemClock.monotonic()
      for end in ends {
        while let first = end.inFlight.first, first.due <= now {
          guard case .bytes(let count)? = try? first.bytes.withUnsafeBytes({ try end.socket.send($0) }) else {
            break
          }
          if count == first.bytes.count {
            end.inFlight.removeFirst()
          } else {
            end.inFlight[0].bytes = first.bytes.dropFirst(count)
          }
        }
      }
    }

    /// Accepts a client, and connects to the server for it.
    private func accept() throws {
      guard let socket = try UnixSocket.accept(listener) else { return }
      guard case .connected(let upstream) = try UnixSocket.connect(path: target) else { return }
      let (client, server) = (RelayEnd(socket), RelayEnd(upstream))
      (client.other, server.other) = (server, client)
      for end in [client, server] {
        try end.socket.setNonBlocking(true)
        ends.append(end)
        end.registration = try loop.register(fd: end.socket.rawValue, interest: .read) {
          [weak self, weak end] _ in
          if let self, let end { self.readAvailable(end) }
        }
      }
    }

    /// Reads from one end. The other end receives the bytes after the delay.
    private func readAvailable(_ end: RelayEnd) {
      var chunk = [UInt8](repeating: 0, count: 64 << 10)
      switch try? chunk.withUnsafeMutableBytes({ try end.socket.receive(into: $0) }) {
      case .bytes(let count)? where count > 0:
        end.other?.inFlight.append((SystemClock.monotonic() + delay, chunk[..<count]))
      case .wouldBlock?: break
      default: finish(end)
      }
    }

    /// Ends both sides of a connection. The sockets are closed with their objects.
    private func finish(_ end: RelayEnd) {
      for end in [end, end.other].compactMap({ $0 }) {
        if let registration = end.registration { loop.deregister(registration) }
        ends.removeAll { $0 === end }
      }
    }
  }
#endif
