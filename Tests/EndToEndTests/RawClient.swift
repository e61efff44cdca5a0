// Client that violates the protocol unless the test makes it comply: bytes on the control socket, and the frames that
// come back. It is written from the protocol's description alone and uses no code of the product. It never waits for
// ever: sending and receiving have limits, and the end of the connection is an answer.
import Glibc

final class RawClient {
  /// Received data.
  struct Answer {
    /// Complete frames, without their lengths.
    var frames: [[UInt8]] = []
    /// True if the coordinator has closed the connection.
    var hasEnded = false

    /// Reason and text of the refusal with which the connection ended, if there was one.
    var refusal: (reason: UInt8, words: String)? {
      // A map of one field, number 2, with a map of the four fields of a refusal, the reason first.
      guard let last = frames.last, last.count > 5, last.starts(with: [0xA1, 0x02, 0xA4, 0x01]) else {
        return nil
      }
      return (last[4], String(decoding: last, as: UTF8.self))
    }

    /// Frames that answer a request.
    var replies: [[UInt8]] { frames.filter { $0.starts(with: [0xA1, 0x03]) } }
  }

  /// Limit for listening to a peer that does not stop sending.
  private static let maxReadTime = TimeLimits.scaled(.seconds(60))

  private let descriptor: Int32
  private var rest: [UInt8] = []

  /// Connects, and waits while the backlog of the socket is full.
  init(_ branch: ScratchBank, socket name: String = "bank.sock", patience: Int = 10) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw TestFailure("no socket: \(String(cString: strerror(errno)))") }
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array("\(branch.home)/run/\(name)".utf8)
    guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw TestFailure("the path \(branch.home) is too long")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let number = descriptor
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw TestFailure("cannot connect: \(reason)")
    }
  }

  deinit { close(descriptor) }

  /// Sends until the client's patience ends; returns false if not everything was accepted, or the peer has gone.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// Sends what is accepted without blocking, and returns the number of bytes.
  func sendAvailable(_ bytes: [UInt8]) -> Int {
    max(
      0,
      bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      })
  }

  /// Closes the sending direction; receiving stays possible.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Receives frames until the connection ends, this number has come, or patience ends.
  func listen(until wanted: Int = .max) -> Answer {
    var answer = Answer()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let deadline = ContinuousClock.now + Self.maxReadTime
    while answer.frames.count < wanted, ContinuousClock.now < deadline {
      if let frame = takeFrame() {
        answer.frames.append(frame)
        continue
      }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else {
        answer.hasEnded = count == 0 || errno == ECONNRESET
        return answer
      }
      rest += buffer[..<count]
    }
    return answer
  }

  /// Next line of a peer that speaks in lines, without its newline; nil if the connection or patience has ended.
  func line() -> String? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest.removeFirst(end + 1) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      rest += buffer[..<count]
    }
  }

  /// Waits at most this time until some of the clients receive data, and discards it.
  ///
  /// - Returns: Number of bytes by the index of each client.
  static func readAll(_ clients: [RawClient], patience milliseconds: Int32) -> [(place: Int, count: Int)] {
    var waiting = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    guard poll(&waiting, UInt(waiting.count), milliseconds) > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    return waiting.indices.filter { waiting[$0].revents != 0 }.map { place in
      (place, max(0, recv(waiting[place].fd, &buffer, buffer.count, Int32(MSG_DONTWAIT))))
    }
  }

  private func takeFrame() -> [UInt8]? {
    guard rest.count >= 4 else { return nil }
    let length = rest[..<4].reduce(0) { $0 << 8 | Int($1) }
    guard rest.count >= 4 + length else { return nil }
    defer { rest.removeFirst(4 + length) }
    return Array(rest[4..<(4 + length)])
  }
}

/// Messages as bytes (RFC 8949), as far as tests send them.
indirect enum Message {
  case number(Int64)
  case text(String)
  case flag(Bool)
  case list([Message])
  case fields([(Int64, Message)])

  /// Hello of a client with the current version, or with the values of the test.
  static func hello(version: Int64 = 1, role: Int64 = 1, more: [(Int64, Message)] = []) -> Message {
    .fields([(1, .fields([(1, .number(version)), (2, .text("dev")), (3, .number(role))] + more))])
  }

  /// Request with this command number and this content.
  static func request(_ number: Int64, _ command: Int64, _ content: Message = .fields([])) -> Message {
    .fields([(2, .fields([(1, .number(number)), (2, .fields([(command, content)]))]))])
  }

  /// One part of a list of customers.
  static func list(_ request: Int64, customers: Int, amount: Int64 = 1000, isLast: Bool) -> Message {
    let customer = Message.fields([
      (1, .text("deposit")), (2, .number(3)), (3, .number(amount)), (4, .number(7)),
    ])
    return .request(
      request, 5, .fields([(1, .list(Array(repeating: customer, count: customers))), (2, .flag(isLast))]))
  }

  var bytes: [UInt8] {
    switch self {
    case .number(let number) where number < 0: Self.head(1, UInt64(-1 - number))
    case .number(let number): Self.head(0, UInt64(number))
    case .text(let text): Self.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
    case .flag(let flag): [flag ? 0xF5 : 0xF4]
    case .list(let items): Self.head(4, UInt64(items.count)) + items.flatMap(\.bytes)
    case .fields(let fields):
      Self.head(5, UInt64(fields.count)) + fields.flatMap { Message.number($0).bytes + $1.bytes }
    }
  }

  /// Encoding after its length.
  var frame: [UInt8] { Self.frame(bytes) }

  /// Any body after its length.
  static func frame(_ body: [UInt8]) -> [UInt8] { length(body.count) + body }

  static func length(_ count: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
  }

  private static func head(_ kind: UInt8, _ argument: UInt64) -> [UInt8] {
    let width =
      argument < 24 ? 0 : argument <= 0xFF ? 1 : argument <= 0xFFFF ? 2 : argument <= 0xFFFF_FFFF ? 4 : 8
    guard width > 0 else { return [kind << 5 | UInt8(argument)] }
    let more: [Int: UInt8] = [1: 24, 2: 25, 4: 26, 8: 27]
    return [kind << 5 | (more[width] ?? 0)]
      + (0..<width).reversed().map { UInt8(truncatingIfNeeded: argument >> (8 * UInt64($0))) }
  }
}
