// One connection that carries messages: the descriptor, the partly received message, and the unsent output.
// Invariant: `onEnd` is called exactly once, and nothing is delivered after it. A connection has one
// encoding: frames or, if lines are allowed, the one that the peer's first byte selects. The output never
// exceeds the backlog limit by more than one message, whatever the peer does. Errors: a `ChannelEnd`. Input
// from the peer can end this channel and nothing else.
import Posix
import Time
import Wire

/// A non-blocking stream socket on an ``EventLoop`` that carries frames or lines with one message each.
///
/// Not Sendable: everything happens on the loop's thread. The channel lives as long as its owner holds it;
/// releasing it closes the socket silently. A handler may do anything with the channel, including closing it.
///
/// Messages are sent with the next ``flush()``, all in one write: the owner flushes at the end of its
/// iteration.
public final class MessageChannel<Incoming: FrameMessage, Outgoing: FrameMessage> {
  /// Called with each message, in order. A handler may be replaced at any time, even by itself.
  public var onMessage: ((Incoming) -> Void)?
  /// Called once, after the channel has ended and its descriptor is closed. The other handlers are removed
  /// before.
  public var onEnd: ((ChannelEnd) -> Void)?
  /// Called when a peer that was too slow for a ``flush()`` has read everything, so that a long reply can
  /// continue.
  public var onDrained: (() -> Void)?

  /// Called after a delivery that ended with the first part of an incomplete message.
  public var onPart: (() -> Void)?

  /// Called once after the peer broke a rule. Returns a last message for it, sent after all earlier ones.
  /// Only as much is written as the kernel accepts at once, because such a peer is not waited for.
  public var lastWord: ((ChannelEnd) -> Outgoing?)?

  /// Time of the last input; at first the time at which the channel was made.
  public internal(set) var lastReceiveAt: MonotonicTime
  /// True until the channel ends.
  public internal(set) var isOpen = true
  /// True while reading is paused; see ``pauseReading()``.
  public private(set) var isReadingPaused = false
  let loop: EventLoop
  var descriptor: FileDescriptor?
  /// Nil after the end, and for a peer that hung up while reading was paused: it would wake the loop
  /// repeatedly.
  var registration: Registration?
  var decoder: FrameDecoder
  /// Encoding of messages; nil until the peer's first byte selects it. Messages sent before that are lines,
  /// because a program in any language can show a line to its user.
  public internal(set) var encoding: MessageEncoding?
  var lines: LineDecoder
  var isDelivering = false
  var isClosing = false
  /// True if nothing more is received: the end of file that is read then comes from this side, and pending
  /// output is still written.
  var isHeardOut = false
  let outgoingLimit: Int
  let lineLimit: Int
  let backlogLimit: Int
  var output: [UInt8] = []
  /// Number of bytes at the start of `output` that the kernel has accepted.
  var written = 0
  /// True while the kernel accepts nothing; the loop reports the change.
  var isBlocked = false
  /// True if the peer reads no more, so that output is dropped. Its earlier input is still read to the end.
  public internal(set) var isPeerDeaf = false
  /// Error found while sending. The next flush reports it, so that `send` never calls a handler.
  var failure: ChannelEnd?

  /// Starts to read from a connected stream socket, which becomes non-blocking.
  ///
  /// - Parameters:
  ///   - incomingLimit: maximum body of an incoming frame in bytes; one of ``FrameLimits``.
  ///   - outgoingLimit: maximum body of an outgoing frame; nil for the same.
  ///   - lineLimit: maximum line in either direction in bytes, one of ``LineLimits``, if the peer may select
  ///     lines by its first byte; nil to allow only frames.
  ///   - backlogLimit: bytes of unsent output above which the channel ends.
  /// - Throws: an error if the descriptor is not a socket, or if it cannot be watched. The descriptor is closed
  ///   then.
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

  /// Process id of the peer that connected, or made the pair; 0 if unknown.
  public var peerPid: Int32 {
    guard descriptor != nil, let peer = try? UnixSocket.peer(of: descriptor!) else { return 0 }
    return peer.pid
  }
  /// True if more has arrived than was delivered: part of a message or, within a handler, even a whole one.
  public var isMidFrame: Bool { isOpen && isMidMessage }
  var isMidMessage: Bool { encoding == .frames ? decoder.isMidFrame : lines.isMidLine }
  /// True if output waits for a ``flush()`` or for the peer.
  public var hasUnflushedOutput: Bool { backlog > 0 }
  /// Bytes of output that wait for a ``flush()`` or for the peer.
  public var backlog: Int { output.count - written }

  /// Queues a message. Does nothing after the end.
  ///
  /// A message that cannot be sent, or one that exceeds the backlog limit, ends the channel at the next
  /// ``flush()``. A message without a line form is skipped for a peer that uses lines.
  public func send(_ message: Outgoing) {
    guard isOpen, failure == nil, !isPeerDeaf, !isClosing else { return }
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

  /// Queues whole frames that were encoded before, because they are the same for many peers.
  ///
  /// - Precondition: the encoding is frames.
  public func send(frames: [UInt8]) {
    precondition(encoding == .frames, "this peer uses lines, not frames")
    guard isOpen, failure == nil, !isPeerDeaf, !isClosing else { return }
    output.append(contentsOf: frames)
    makeRoom()
  }

  private func makeRoom() {
    guard backlog > backlogLimit else { return }
    // A peer that keeps up has made space meanwhile; only a slow one has a backlog.
    writeOutput()
    if backlog > backlogLimit, failure == nil { failure = .backlogExceeded }
  }

  /// A message as one frame, for a client without a channel. Empty if it cannot be sent.
  public static func frame(of message: Outgoing, limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // After an error nothing was appended.
    try? FrameEncoder().append(message, to: &bytes, limit: limit)
    return bytes
  }

  /// A message as one line, for a client without a channel. Empty if it has no line form.
  public static func line(of message: Outgoing, limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // After an error nothing was appended.
    try? LineEncoder().append(message, to: &bytes, limit: limit)
    return bytes
  }

  /// Writes as much as the kernel accepts now, and leaves the rest to the loop. It may call ``onEnd``.
  public func flush() {
    guard isOpen else { return }
    if failure == nil { writeOutput() }
    settle()
  }

  /// Ends the channel as soon as all queued output is written. No more messages are delivered.
  public func closeAfterFlush() {
    guard isOpen else { return }
    isClosing = true
    flush()
  }

  /// Ends the channel now; unsent output is lost.
  public func close() { end(.closedHere) }

  /// Stops delivery, even of input that has arrived already. The peer's writes fill the kernel's buffer and
  /// then block. The end of the peer becomes visible when reading resumes.
  public func pauseReading() {
    guard isOpen, !isReadingPaused else { return }
    isReadingPaused = true
    watch()
    settle()
  }

  /// Reads the peer's input to the end, and shuts down reading: every message that had arrived is delivered
  /// before this returns, and later ones fail at the peer. So both sides know which messages were received.
  public func hearOut() {
    guard isOpen, !isClosing, descriptor != nil else { return }
    // Fails if the connection is gone, and then no more input can arrive.
    try? UnixSocket.shutdownReading(descriptor!)
    isHeardOut = true
    resumeReading()
    while isOpen, !isReadingPaused, receive() {}
    watch()
  }

  /// Resumes delivery. Held-back messages are delivered before this returns; within a delivery, the running
  /// one continues with them.
  public func resumeReading() {
    guard isOpen, isReadingPaused else { return }
    isReadingPaused = false
    watch()
    settle()
    if !Kernel.makes("forgetsWhatWasHeldBack") { deliver() }
  }
}
