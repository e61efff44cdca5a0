// Client side of one connection to a coordinator: hello, numbered requests, numbered answers. Invariant: a wait has a
// deadline, unless the caller passes nil. A pause within a frame is limited by `stall`. While the client sends a
// large request it also reads answers, so that the two ends do not block each other.
// Errors: ControlError. After an error the connection must not be used any more, except after a `timedOut` of a wait
// for an answer.
import BankModel
import Posix
import Time
import Transport
import Wire

/// A client's connection to a coordinator, used by one thread. Not Sendable.
public final class ControlConnection {
  /// Timeouts of a connection: for the coordinator's answer to the hello, and for a pause within one message.
  public struct Timeouts: Sendable, Equatable {
    /// Limit for the answer to the hello, which a large commit of the coordinator may delay.
    public var hello: TimeSpan
    /// Limit of a pause in receiving one frame, and of a pause in which the coordinator does not read a
    /// request.
    public var stall: TimeSpan

    /// Both timeouts, with defaults.
    public init(hello: TimeSpan = .seconds(10), stall: TimeSpan = .seconds(30)) {
      self.hello = hello
      self.stall = stall
    }
  }

  /// Identity of this program's build, as sent in its hello.
  public static var build: String { BuildIdentity.current }

  /// The descriptor, for a caller that polls several sources for reading. Borrowed: do not close it.
  public var fd: CInt { socket.rawValue }
  /// Protocol version and build of the coordinator, from its welcome.
  public private(set) var coordinator = Welcome(version: 0, build: "")

  let socket: FileDescriptor
  let timeouts: Timeouts
  /// Received bytes that are not decoded yet.
  private var inbound = FrameDecoder(maximumBodyLength: FrameLimits.control)
  /// Time of the last input, from which a pause within a frame is measured.
  private var lastArrival: MonotonicTime
  /// Number of the next request.
  private var nextNumber: UInt32 = 1
  /// True after the end of the input.
  private var hasEnded = false
  /// Answers that were received before a write found the connection closed.
  private var bufferedMessages: [BankMessage] = []
  /// Buffer for one read.
  private let chunk: UnsafeMutableRawBufferPointer

  /// Limit in bytes of the unprocessed input while a request is being sent.
  private static let inboundLimit = 64 << 20

  private init(_ socket: consuming FileDescriptor, timeouts: Timeouts) {
    self.socket = socket
    self.timeouts = timeouts
    lastArrival = SystemClock.monotonic()
    chunk = .allocate(byteCount: 64 << 10, alignment: 16)
  }

  deinit { chunk.deallocate() }

  /// Sends hello on a connected socket and waits for the welcome.
  ///
  /// Another build is accepted if it uses the same version of the protocol.
  /// - Throws: `otherVersion`, `refused`, `noWelcome`, `timedOut`, `lost`, `malformed`, `unexpected`, `system`.
  public static func greet(
    _ socket: consuming FileDescriptor, timeouts: Timeouts = Timeouts(),
    build: String = ControlConnection.build
  ) throws(ControlError) -> ControlConnection {
    let connection = ControlConnection(socket, timeouts: timeouts)
    try connection.exchangeHello(build: build)
    return connection
  }

  private func exchangeHello(build: String) throws(ControlError) {
    do throws(SystemError) { try socket.setNonBlocking(true) } catch { throw .system(error) }
    try transmit(.hello(Hello(build: build, role: .client)))
    // Count only the time in which this process could have received an answer. A time in which the process did
    // not run, for example because the whole machine was suspended, must not cause a timeout.
    var listeningTime = ListeningClock(at: SystemClock.monotonic(), stride: timeouts.hello / 10)
    let deadline = listeningTime.now + timeouts.hello
    var answer: BankMessage?
    repeat {
      answer = try receive(until: listeningTime.wakeTime(for: deadline))
      listeningTime.recordPoll(at: SystemClock.monotonic())
    } while answer == nil && listeningTime.now < deadline
    guard let message = answer else { throw .noWelcome }
    switch message {
    case .welcome(let welcome) where welcome.version == protocolVersion: coordinator = welcome
    case .welcome(let welcome): throw .otherVersion(theirs: welcome.version, build: welcome.build)
    case .refused(let refusal): throw Self.error(of: refusal)
    case .reply: throw .unexpected(detail: MessageDetail(.replyBeforeWelcome))
    }
  }

  /// Sends a request, or a further part of the request `continued`, without waiting for the answer.
  /// - Parameter continued: number of the request of which this one is a further part; nil for a new request.
  /// - Parameter reportsProgress: true to receive the progress of a long request.
  /// - Parameter leavesDelayed: true if `awaitIdle` ignores delayed customers.
  /// - Returns: number of the request, which its answers contain.
  /// - Throws: `lost`, or the refusal that the coordinator sent last, if the connection has ended; `timedOut`
  ///   if the coordinator does not read the request; `malformed` if the request does not fit into a frame, or if
  ///   the received answers are invalid or too many; `system`.
  @discardableResult
  public func send(
    _ command: ControlCommand, continuing continued: UInt32? = nil, reportsProgress: Bool? = nil,
    leavesDelayed: Bool? = nil
  ) throws(ControlError) -> UInt32 {
    let number = continued ?? nextNumber
    if continued == nil { nextNumber &+= 1 }
    try transmit(
      .request(
        ControlRequest(
          number: number, command: command, reportsProgress: reportsProgress, leavesDelayed: leavesDelayed)))
    return number
  }

  /// Waits for the next answer to any request. Returns nil at the deadline. With nil as the deadline, it waits
  /// as long as the connection lasts. Throws `timedOut` if a message stays incomplete for the time `stall`.
  public func next(until deadline: MonotonicTime?) throws(ControlError) -> ControlReply? {
    guard let message = try receive(until: deadline) else { return nil }
    switch message {
    case .reply(let reply): return reply
    case .refused(let refusal): throw Self.error(of: refusal)
    case .welcome: throw .unexpected(detail: MessageDetail(.secondWelcome))
    }
  }

  /// Sends a request and waits for the first answer to it, or throws `timedOut`. With nil as `timeouts`, it
  /// waits as long as the connection lasts. Answers to other requests that arrive before are dropped.
  public func call(_ command: ControlCommand, within timeouts: TimeSpan?) throws(ControlError)
    -> ControlAnswer
  {
    let number = try send(command)
    let deadline = timeouts.map { SystemClock.monotonic() + $0 }
    while let reply = try next(until: deadline) { if reply.number == number { return reply.answer } }
    throw .timedOut(what: "a response")
  }

  /// Waits until the connection has ended, as it does when the coordinator exits. Returns false at the
  /// deadline, or if a message stays incomplete. Also returns true after invalid input or a failed system call.
  /// Answers are dropped.
  public func awaitEnd(until deadline: MonotonicTime?) -> Bool {
    while true {
      do throws(ControlError) { guard try receive(until: deadline) != nil else { return false } } catch {
        if case .timedOut = error { return false }
        return true
      }
    }
  }

  /// Shuts down sending; the coordinator then ends the connection.
  public func hangUp() {
    // A failure means that the connection has already ended.
    try? UnixSocket.shutdownWriting(socket)
  }
}

extension ControlConnection {
  /// The error for a refusal: `otherVersion` if the versions differ, else `refused`.
  private static func error(of refusal: Refusal) -> ControlError {
    guard refusal.reason == .version else { return .refused(refusal) }
    return .otherVersion(theirs: refusal.version, build: refusal.build)
  }

  /// The next message, or nil at the deadline.
  private func receive(until deadline: MonotonicTime?) throws(ControlError) -> BankMessage? {
    while true {
      if !bufferedMessages.isEmpty { return bufferedMessages.removeFirst() }
      if let message = try decodeMessage() { return message }
      if hasEnded { throw inbound.isMidFrame ? .malformed(detail: MessageDetail(.endsMidFrame)) : .lost }
      // Handle the input that has arrived before checking the clock.
      if try readInput() { continue }
      if hasEnded { continue }
      let stall = inbound.isMidFrame ? lastArrival + timeouts.stall : nil
      let limit = MonotonicTime.earliest(deadline, stall)
      if try waitUntilReady(until: limit) { continue }
      if let stall, stall == limit { throw .timedOut(what: "the rest of a message") }
      return nil
    }
  }

  /// The next complete message of the received input; nil if there is none.
  private func decodeMessage() throws(ControlError) -> BankMessage? {
    let body: ArraySlice<UInt8>?
    do throws(FrameError) { body = try inbound.next() } catch { throw .malformed(detail: "\(error)") }
    guard let body else { return nil }
    if let message = body.withUnsafeBufferPointer({ BankMessage.readDirectly($0) }) { return message }
    do throws(CBORDecodingError) { return try CBORDecoder().decode(BankMessage.self, from: body) } catch {
      throw .malformed(detail: "\(error)")
    }
  }

  /// Reads available input without waiting. Returns false if nothing was read.
  private func readInput() throws(ControlError) -> Bool {
    let result: ReadResult
    do throws(SystemError) { result = try socket.read(into: chunk) } catch { throw .system(error) }
    switch result {
    case .bytes(let count):
      lastArrival = SystemClock.monotonic()
      inbound.append(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
      return true
    case .wouldBlock: return false
    case .endOfFile:
      hasEnded = true
      return false
    }
  }

  /// Sends a whole message. While the coordinator does not read, its answers are received and buffered.
  private func transmit(_ message: ClientMessage) throws(ControlError) {
    var bytes: [UInt8] = []
    do throws(FrameEncodingError) {
      try FrameEncoder().append(message, to: &bytes, limit: FrameLimits.control)
    } catch { throw .malformed(detail: "\(error)") }
    var sent = 0
    var lastProgress = SystemClock.monotonic()
    while sent < bytes.count {
      switch try sendOnce(bytes, from: sent) {
      case .bytes(let count):
        sent += count
        lastProgress = SystemClock.monotonic()
      case .wouldBlock:
        guard try waitUntilReady(orWritable: true, until: lastProgress + timeouts.stall) else {
          throw .timedOut(what: "it does not read the request")
        }
        _ = try readInput()
        if hasEnded { throw try readFinalMessage() }
        guard inbound.bufferedByteCount <= Self.inboundLimit else {
          throw .malformed(detail: MessageDetail(.tooManyReplies))
        }
      case .peerClosed: throw try readFinalMessage()
      }
    }
  }

  /// Writes as much of a message, from the byte at `start`, as the socket accepts without waiting.
  private func sendOnce(_ bytes: [UInt8], from start: Int) throws(ControlError) -> WriteResult {
    var outcome: Result<WriteResult, SystemError> = .success(.wouldBlock)
    bytes.withUnsafeBytes { buffer in
      do throws(SystemError) {
        outcome = .success(try socket.send(UnsafeRawBufferPointer(rebasing: buffer[start...])))
      } catch { outcome = .failure(error) }
    }
    do throws(SystemError) { return try outcome.get() } catch { throw .system(error) }
  }

  /// Error for a write to a closed connection. If the coordinator has sent a refusal, the refusal is the error,
  /// because it explains more than `lost`. Answers before it are stored for the next call.
  private func readFinalMessage() throws(ControlError) -> ControlError {
    while try readInput() {}
    while let message = try decodeMessage() {
      if case .refused(let refusal) = message { return Self.error(of: refusal) }
      bufferedMessages.append(message)
    }
    return .lost
  }
}
