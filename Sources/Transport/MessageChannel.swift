// One connection that carries messages: its descriptor, the incomplete incoming message, and the unsent output.
// Invariant: `onEnd` is called at most once, and nothing is delivered after it. A connection has one encoding:
// frames or, if lines are allowed, the encoding that the peer's first byte selects. The output exceeds the backlog
// limit by at most one call of `send`. Errors: a `CloseReason`. Invalid input from the peer ends this channel.
import Posix
import Time
import Wire

/// A non-blocking stream socket on an ``EventLoop`` that carries frames or lines with one message each.
///
/// Not Sendable: everything happens on the loop's thread. The owner keeps the channel alive; releasing it
/// closes the socket without a call of ``onEnd``. A handler may do anything with the channel, including closing
/// it.
///
/// The next ``flush()`` writes the queued messages together. Call it at the end of an iteration of the loop.
public final class MessageChannel<Incoming: FrameMessage, Outgoing: FrameMessage> {
  /// Called with each message, in order. A handler may be replaced at any time, even by itself.
  public var onMessage: ((Incoming) -> Void)?
  /// Called once, after the channel has ended and its descriptor is closed. All other handlers are removed
  /// before this call.
  public var onEnd: ((CloseReason) -> Void)?
  /// Called when the kernel has accepted the rest of the output, after a ``flush()`` at which it did not accept
  /// everything.
  public var onDrained: (() -> Void)?

  /// Called after input was processed, if the start of an incomplete message remains.
  public var onPartialMessage: (() -> Void)?

  /// Called once after the peer broke a rule. Returns a last message for the peer, which is sent after all
  /// earlier messages. The channel writes only as much as the kernel accepts at once, and does not wait for the
  /// peer.
  public var finalMessage: ((CloseReason) -> Outgoing?)?

  /// Time of the last input. Before any input it is the time at which the channel was created.
  public internal(set) var lastReceiveAt: MonotonicTime
  /// True until the channel ends.
  public internal(set) var isOpen = true
  /// True while reading is paused; see ``pauseReading()``.
  public private(set) var isReadingPaused = false
  let loop: EventLoop
  var descriptor: FileDescriptor?
  /// Nil after the end, and if the peer hung up while the channel was not reading, because a hang-up would wake
  /// the loop repeatedly.
  var registration: Registration?
  var decoder: FrameDecoder
  /// Encoding of messages. If lines are allowed, it is nil until the peer's first byte selects it. Messages sent
  /// before are encoded as lines.
  public internal(set) var encoding: MessageEncoding?
  var lines: LineDecoder
  /// True during ``deliver()``, so that a handler does not start a second delivery.
  var isDelivering = false
  /// True after ``closeAfterFlush()``.
  var isClosing = false
  /// True after ``drainInput()``, which shuts down reading. An end of file then comes from this side and does not
  /// end the channel, so that pending output is still written.
  var isInputDrained = false
  let outgoingLimit: Int
  let lineLimit: Int
  let backlogLimit: Int
  /// Encoded messages that the kernel has not accepted, after the first `written` bytes.
  var output: [UInt8] = []
  /// Number of bytes at the start of `output` that the kernel has accepted.
  var written = 0
  /// True while the kernel accepts no output. The loop reports when it accepts output again.
  var isBlocked = false
  /// True if the peer has closed the connection or its reading side, so that output is dropped. Input that the
  /// peer has sent is still read to its end.
  public internal(set) var isPeerReadClosed = false
  /// Error found while sending or in ``watch()``. The next ``finishWriting()`` reports it, so that `send` calls no
  /// handler.
  var failure: CloseReason?

  /// Starts to read from a connected stream socket, which becomes non-blocking.
  ///
  /// - Parameters:
  ///   - incomingLimit: maximum body of an incoming frame in bytes; one of ``FrameLimits``.
  ///   - outgoingLimit: maximum body of an outgoing frame in bytes; nil for `incomingLimit`.
  ///   - lineLimit: maximum length of a line in bytes, in either direction; one of ``LineLimits``. With a limit
  ///     the peer may select lines by its first byte; with nil only frames are allowed.
  ///   - backlogLimit: bytes of unsent output above which the channel ends.
  /// - Throws: an error if the descriptor cannot be made non-blocking, or if the loop cannot watch it. The
  ///   descriptor is then closed.
  public init(
    descriptor: consuming FileDescriptor, loop: EventLoop, incomingLimit: Int, backlogLimit: Int,
    outgoingLimit: Int? = nil, lineLimit: Int? = nil
  ) throws(SystemError) {
    try descriptor.setNonBlocking(true)
    self.loop = loop
    self.descriptor = consume descriptor
    self.outgoingLimit = outgoingLimit ?? incomingLimit
    self.backlogLimit = backlogLimit
    decoder = FrameDecoder(maximumBodyLength: incomingLimit)
    encoding = lineLimit == nil ? .frames : nil
    self.lineLimit = lineLimit ?? 1
    lines = LineDecoder(maximumLength: self.lineLimit)
    lastReceiveAt = SystemClock.monotonic()
    try attach()
  }

  deinit {
    if let registration { loop.deregister(registration) }
  }

  /// Process id of the peer when the connection was made, or of the process that created the socket pair; 0 if unknown.
  public var peerPid: Int32 {
    guard descriptor != nil, let peer = try? UnixSocket.peer(of: descriptor!) else { return 0 }
    return peer.pid
  }
  /// True if input was read that was not delivered: part of a message or, within a handler or while reading is
  /// paused, also whole messages.
  public var isMidFrame: Bool { isOpen && isMidMessage }
  /// True if input was read that was not delivered.
  var isMidMessage: Bool { encoding == .frames ? decoder.isMidFrame : lines.isMidLine }
  /// True if output waits for a ``flush()`` or for the peer.
  public var hasUnflushedOutput: Bool { backlog > 0 }
  /// Bytes of output that wait for a ``flush()`` or for the peer.
  public var backlog: Int { output.count - written }

  /// Queues a message. Does nothing after the end of the channel or ``closeAfterFlush()``, after an error, and
  /// if the peer reads no more.
  ///
  /// A message that cannot be sent, or one that exceeds the backlog limit, ends the channel at the next
  /// ``flush()``. A message without a line form is skipped for a peer that uses lines.
  public func send(_ message: Outgoing) {
    guard isOpen, failure == nil, !isPeerReadClosed, !isClosing else { return }
    guard encoding == .frames else { return send(line: message) }
    do throws(FrameEncodingError) {
      try FrameEncoder().append(message, to: &output, limit: outgoingLimit)
    } catch {
      failure = .unsendable(error.description)
      return
    }
    makeRoom()
  }

  private func send(line message: Outgoing) {
    do throws(LineError) {
      try LineEncoder().append(message, to: &output, limit: lineLimit)
    } catch {
      failure = .unsendable(error.description)
      return
    }
    makeRoom()
  }

  /// Queues whole frames that are already encoded. Does nothing where ``send(_:)`` does nothing.
  ///
  /// - Precondition: the encoding is frames.
  public func send(frames: [UInt8]) {
    precondition(encoding == .frames, "this peer uses lines, not frames")
    guard isOpen, failure == nil, !isPeerReadClosed, !isClosing else { return }
    output.append(contentsOf: frames)
    makeRoom()
  }

  /// Writes output if the backlog exceeds its limit. If it still does, stores an error that ends the channel.
  private func makeRoom() {
    guard backlog > backlogLimit else { return }
    // Many messages may have been queued since the last write. After this write, only a slow peer has a
    // backlog.
    writeOutput()
    if backlog > backlogLimit, failure == nil { failure = .backlogExceeded }
  }

  /// Encodes a message as one frame, for a client without a channel. Empty if the message is invalid or too
  /// long.
  public static func frame(of message: Outgoing, limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // An error leaves `bytes` empty.
    try? FrameEncoder().append(message, to: &bytes, limit: limit)
    return bytes
  }

  /// Encodes a message as one line, for a client without a channel. Empty if the message has no line form or is
  /// too long.
  public static func line(of message: Outgoing, limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // An error leaves `bytes` empty.
    try? LineEncoder().append(message, to: &bytes, limit: limit)
    return bytes
  }

  /// Writes as much as the kernel accepts now. The rest is written when the loop reports that the kernel
  /// accepts more. May call ``onEnd``.
  public func flush() {
    guard isOpen else { return }
    if failure == nil { writeOutput() }
    finishWriting()
  }

  /// Ends the channel as soon as all queued output is written. No message is delivered after this call.
  public func closeAfterFlush() {
    guard isOpen else { return }
    isClosing = true
    flush()
  }

  /// Ends the channel now; unsent output is lost.
  public func close() { end(.closedLocally) }

  /// Stops delivery, even of input that has already arrived. If the peer closes the connection, the channel ends when
  /// reading resumes.
  public func pauseReading() {
    guard isOpen, !isReadingPaused else { return }
    isReadingPaused = true
    watch()
    finishWriting()
  }

  /// Shuts down reading, and delivers the messages that have already arrived before it returns, unless a handler
  /// pauses or closes the channel. Later writes of the peer fail. If ``onMessage`` calls it, the messages are
  /// delivered after the handler returns.
  public func drainInput() {
    guard isOpen, !isClosing, descriptor != nil else { return }
    // This fails if the connection has ended; no more input can then arrive.
    try? UnixSocket.shutdownReading(descriptor!)
    isInputDrained = true
    resumeReading()
    while isOpen, !isReadingPaused, receive() {}
    watch()
  }

  /// Resumes delivery. Messages that were already read are delivered before this function returns. If ``onMessage``
  /// calls this function, the messages are delivered after the handler returns.
  public func resumeReading() {
    guard isOpen, isReadingPaused else { return }
    isReadingPaused = false
    watch()
    finishWriting()
    if !Mutant.dropsHeldBackMessages.isActive { deliver() }
  }
}
