// Input of a channel: events of the loop, and the path of bytes from the socket to the owner's handler.
// Invariant: `onMessage` is not called recursively, and if a handler pauses or closes the channel, no further
// message is delivered until reading resumes. One read per readiness event is enough, because the loop is
// level-triggered. Errors: the end of the channel.
import Glibc
import Posix
import Wire

extension MessageChannel {
  /// Registers the socket with the loop.
  func attach() throws(SystemError) {
    guard let number = descriptor?.rawValue else { return }
    // The channel deregisters in its deinitializer, so the loop does not call a released channel.
    registration = try loop.register(fd: number, interest: interest) { [unowned self] in handle($0) }
  }

  /// The events for which the loop has to watch in the present state.
  private var interest: Interest {
    var interest: Interest = []
    if !isReadingPaused && !isClosing && !isInputDrained { interest.insert(.read) }
    if isBlocked { interest.insert(.write) }
    return interest
  }

  /// Adapts the events that the loop watches to the state of the channel.
  func watch() {
    guard isOpen, failure == nil else { return }
    do throws(SystemError) {
      if let registration {
        try loop.modify(registration, interest: interest)
      } else if !isReadingPaused {
        try attach()
      }
    } catch {
      failure = .system(error)
    }
  }

  /// Writes pending output and reads input when the socket is ready.
  private func handle(_ readiness: Readiness) {
    let isGone = !readiness.isDisjoint(with: [.hangUp, .error])
    if isBlocked, isGone || readiness.contains(.write) {
      isBlocked = false
      writeOutput()
      finishWriting()
      guard isOpen else { return }
      if !hasUnflushedOutput, !isPeerReadClosed { onDrained?() }
    }
    guard isOpen else { return }
    if !isReadingPaused, !isClosing, !isInputDrained {
      if isGone || readiness.contains(.read) { receive() }
    } else if isGone, let registration {
      // epoll(7) reports a hang-up even if it is not requested, in every iteration. After a pause, the channel
      // reads the end of file when reading resumes.
      loop.deregister(registration)
      self.registration = nil
    }
  }

  /// Delivers input that has arrived, without waiting for the loop. Returns false if there is none, if the channel is
  /// not reading now, or if the kernel accepts no output.
  ///
  /// For a peer whose answer is expected now, this saves a system call.
  public func receiveNow() -> Bool {
    guard isOpen, !isReadingPaused, !isClosing, !isBlocked else { return false }
    return receive()
  }

  /// Reads once from the socket, and delivers the whole messages. Returns false if there was no input.
  @discardableResult
  func receive() -> Bool {
    let buffer = ReadBuffer.current
    let result: ReadResult
    do throws(SystemError) {
      guard let arrived = try descriptor?.receive(into: buffer) else { return false }
      result = arrived
    } catch {
      end(.system(error))
      return true
    }
    switch result {
    case .wouldBlock: return false
    case .endOfFile where isInputDrained: return false
    case .endOfFile: end(isMidMessage ? .truncatedMessage : .endOfFile)
    case .bytes(let count):
      lastReceiveAt = loop.wokeAt
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      if encoding == .frames {
        decoder.append(bytes)
      } else if !detectEncoding(bytes) {
        return true
      }
      deliver()
    }
    return true
  }

  /// Selects the encoding by the first byte of the peer, and passes all bytes to the decoder of this encoding. Ends the
  /// channel and returns false if the first byte starts neither a frame nor a line.
  private func detectEncoding(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if encoding == nil { encoding = bytes.first.flatMap { MessageEncoding(firstByte: $0) } }
    switch encoding {
    case .frames: decoder.append(bytes)
    case .lines: lines.append(bytes)
    case nil:
      let reason = "the first byte is \(bytes.first ?? 0), which starts neither a frame nor a line of JSON"
      failWithFinalMessage(because: .malformed(reason))
      return false
    }
    return true
  }

  /// Delivers the whole messages, until a handler pauses or closes the channel.
  func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while isOpen, !isReadingPaused, !isClosing {
      let message: Incoming
      do throws(CloseReason) {
        guard let next = try nextMessage() else {
          if isMidMessage { onPartialMessage?() }
          return
        }
        message = next
      } catch {
        return failWithFinalMessage(because: error)
      }
      onMessage?(message)
    }
  }

  /// Decodes the next whole message; nil if there is none yet.
  private func nextMessage() throws(CloseReason) -> Incoming? {
    guard encoding == .frames else { return try nextLine() }
    guard let body = try nextBody() else { return nil }
    if let message = body.withUnsafeBufferPointer({ Incoming.readDirectly($0) }) { return message }
    do throws(CBORDecodingError) { return try CBORDecoder().decode(Incoming.self, from: body) } catch {
      throw .malformed(error.description)
    }
  }

  /// Body of the next whole frame; nil if there is none yet.
  private func nextBody() throws(CloseReason) -> ArraySlice<UInt8>? {
    do throws(FrameError) { return try decoder.next() } catch {
      if case .bodyTooLong = error { throw .oversized }
      throw .malformed(error.description)
    }
  }
}

extension MessageChannel {
  /// Decodes the next whole line; nil if there is none yet.
  private func nextLine() throws(CloseReason) -> Incoming? {
    let next: ArraySlice<UInt8>?
    do throws(LineError) { next = try lines.next() } catch { throw .oversized }
    guard let line = next else { return nil }
    do throws(LineParseError) {
      return try line.withUnsafeBufferPointer { bytes throws(LineParseError) in try Incoming.readLine(bytes) }
    } catch {
      throw .malformed(error.description)
    }
  }
}

/// Input buffer of the current thread, which all its channels share.
///
/// The kernel allocates a page of the buffer at its first write, so a process with small messages needs little
/// memory.
enum ReadBuffer {
  /// Maximum number of bytes of one read.
  static let size = 64 << 10

  /// The buffer, which is allocated at the first call in a thread.
  static var current: UnsafeMutableRawBufferPointer {
    if let block = pthread_getspecific(key) { return .init(start: block, count: size) }
    guard let block = malloc(size) else { preconditionFailure("there are \(size) bytes of memory") }
    let result = pthread_setspecific(key, block)
    precondition(result == 0, "a thread can keep a pointer")
    return .init(start: block, count: size)
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key) { free($0) }
    precondition(result == 0, "the process has a thread key left")
    return key
  }()
}
