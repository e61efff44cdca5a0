// Owns one connection that carries messages: the descriptor, what has been read of the next one, and what
// has not been written yet. Invariant: `onEnd` is called exactly once, and nothing is delivered afterwards. A connection has
// one encoding: frames, or where that is allowed what the peer's first byte says.
// The bytes that wait to be written never exceed the backlog limit by more than one message, whatever the
// peer does. Failure: a `ChannelEnd`. Input from the peer can end this channel and nothing else.
import Posix
import Time
import Wire

/// A non-blocking stream socket on an ``EventLoop`` that carries frames or lines with one message each.
///
/// Not Sendable: everything happens on the loop's thread. The channel lives as long as its owner holds it; dropping it
/// closes the socket without a word. A handler may do anything with the channel, also close it.
///
/// Messages that were sent leave with the next ``flush()``, all in one write: the owner flushes at the end of its turn.
public final class MessageChannel<Incoming: FrameMessage, Outgoing: FrameMessage> {
  /// Called with each message, in order. It may be replaced at any time, also by itself.
  public var onMessage: ((Incoming) -> Void)?
  /// Called once, when the channel has ended and its descriptor is closed. Both other handlers are gone by then.
  public var onEnd: ((ChannelEnd) -> Void)?
  /// Called when a peer that was too slow for a ``flush()`` has taken everything, so that a long reply can go on.
  public var onDrained: (() -> Void)?

  /// Called after a delivery that left the beginning of a message behind, of which the rest is still to come.
  public var onPart: (() -> Void)?

  /// Asked once, when the peer has broken the rules, for a last word to it; what was sent before goes first. It is
  /// written as far as the kernel takes it at once: such a peer is not waited for.
  public var lastWord: ((ChannelEnd) -> Outgoing?)?

  /// When bytes last arrived; at first the moment at which the channel was made.
  public internal(set) var lastReceiveAt: MonotonicTime
  /// Whether the channel has not ended.
  public internal(set) var isOpen = true
  /// Whether reading is paused; see ``pauseReading()``.
  public private(set) var isReadingPaused = false
  let loop: EventLoop
  var descriptor: FileDescriptor?
  /// Nil after the end, and where a peer that hung up while reading was paused would wake the loop for ever.
  var registration: Registration?
  var decoder: FrameDecoder
  /// What messages look like here; nil until the peer's first byte says so. What is sent before that is said in lines,
  /// because a program in any language can show them to somebody.
  public internal(set) var encoding: MessageEncoding?
  var lines: LineDecoder
  var isDelivering = false
  var isClosing = false
  /// Whether nothing more is heard: the end that is read then is this side's, and what is still to be written goes on.
  var isHeardOut = false
  let outgoingLimit: Int
  let lineLimit: Int
  let backlogLimit: Int
  var output: [UInt8] = []
  /// How many bytes at the beginning of the output the kernel has taken.
  var written = 0
  /// The kernel takes nothing until the loop says that it does.
  var isBlocked = false
  /// Whether the peer reads no more, so that what is sent is dropped; what it still said before is read to the end.
  public internal(set) var isPeerDeaf = false
  /// Found while sending, told by the next flush, so that `send` never calls a handler.
  var failure: ChannelEnd?

  /// Begins to read from a connected stream socket, which it makes non-blocking.
  ///
  /// - Parameters:
  ///   - incomingLimit: the longest body of a frame that is accepted, in bytes; one of ``FrameLimits``.
  ///   - outgoingLimit: the longest that is sent; nil for the same.
  ///   - lineLimit: the longest line in either direction, in bytes, one of ``LineLimits``, where the peer may choose lines by
  ///     its first byte; nil where frames alone are spoken.
  ///   - backlogLimit: how many bytes may wait for a slow peer before the channel ends.
  /// - Throws: a descriptor that is no socket, or none left to watch with. It is closed then.
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

  /// The process that has connected, or made the pair; 0 where that cannot be said.
  public var peerPid: Int32 {
    guard descriptor != nil, let peer = try? UnixSocket.peer(of: descriptor!) else { return 0 }
    return peer.pid
  }
  /// Whether more has arrived than was delivered: the beginning of a message, or within a handler also a whole one.
  public var isMidFrame: Bool { isOpen && isMidMessage }
  var isMidMessage: Bool { encoding == .frames ? decoder.isMidFrame : lines.isMidLine }
  /// Whether bytes wait for a ``flush()`` or for the peer.
  public var hasUnflushedOutput: Bool { backlog > 0 }
  /// How many bytes wait for a ``flush()`` or for the peer.
  public var backlog: Int { output.count - written }

  /// Puts a message behind those that wait to be written. After the end it does nothing.
  ///
  /// A message that cannot be sent, or one too many for a slow peer, ends the channel at the next ``flush()``. One that has no
  /// line is not said to a peer that speaks in lines.
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

  /// The same for whole frames that were made before, which are the same for many peers.
  ///
  /// - Precondition: frames are what is spoken here.
  public func send(frames: [UInt8]) {
    precondition(encoding == .frames, "frames are for a peer that speaks in frames")
    guard isOpen, failure == nil, !isPeerDeaf, !isClosing else { return }
    output.append(contentsOf: frames)
    makeRoom()
  }

  private func makeRoom() {
    guard backlog > backlogLimit else { return }
    // A peer that keeps up has made room in the meantime; only one that does not has a backlog.
    writeOutput()
    if backlog > backlogLimit, failure == nil { failure = .backlogExceeded }
  }

  /// A message as one frame, for whoever gets no channel. Empty where it cannot be sent.
  public static func frame(of message: Outgoing, limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // On an error nothing was appended.
    try? FrameEncoder().append(message, to: &bytes, limit: limit)
    return bytes
  }

  /// A message as one line, for whoever gets no channel. Empty where it has none.
  public static func line(of message: Outgoing, limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // On an error nothing was appended.
    try? LineEncoder().append(message, to: &bytes, limit: limit)
    return bytes
  }

  /// Writes what the kernel takes now, and leaves the rest to the loop. It may call ``onEnd``.
  public func flush() {
    guard isOpen else { return }
    if failure == nil { writeOutput() }
    settle()
  }

  /// Ends the channel as soon as everything that was sent is written. No message is delivered any more.
  public func closeAfterFlush() {
    guard isOpen else { return }
    isClosing = true
    flush()
  }

  /// Ends the channel now; what was not flushed is lost.
  public func close() { end(.closedHere) }

  /// Delivers nothing from now on, not even what has arrived already. The peer's writes fill the kernel's buffer
  /// and then wait. The end of the peer shows when reading goes on.
  public func pauseReading() {
    guard isOpen, !isReadingPaused else { return }
    isReadingPaused = true
    watch()
    settle()
  }

  /// Hears the peer out, and then no more: what it sends after this fails there, and every message that had come by
  /// then is delivered before this returns. So nobody has to guess whether something was heard.
  public func hearOut() {
    guard isOpen, !isClosing, descriptor != nil else { return }
    // It fails where the connection is gone already, and then there is nothing to be kept out.
    try? UnixSocket.shutdownReading(descriptor!)
    isHeardOut = true
    resumeReading()
    while isOpen, !isReadingPaused, receive() {}
    watch()
  }

  /// Delivers again. Messages that were held back are delivered before this returns, except from within a delivery,
  /// which then goes on with them.
  public func resumeReading() {
    guard isOpen, isReadingPaused else { return }
    isReadingPaused = false
    watch()
    settle()
    if !Kernel.makes("forgetsWhatWasHeldBack") { deliver() }
  }
}
