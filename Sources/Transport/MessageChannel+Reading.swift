// Owns what the event loop tells a channel, and the way of bytes from the socket to the owner's handler.
// Invariant: handlers are never called from within one another; a handler that pauses or closes is obeyed before the
// next message. One read a readiness is enough, because the loop tells again.
// Failure: the end of the channel.
import Glibc
import Posix
import Wire

extension MessageChannel {
  func attach() throws(SystemError) {
    guard let number = descriptor?.rawValue else { return }
    // Taken out before the channel goes, so the loop never calls one that is gone.
    registration = try loop.register(fd: number, interest: interest) { [unowned self] in handle($0) }
  }

  private var interest: Interest {
    var interest: Interest = []
    if !isReadingPaused && !isClosing && !isHeardOut { interest.insert(.read) }
    if isBlocked { interest.insert(.write) }
    return interest
  }

  /// Brings what the loop waits for in line with the state.
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

  private func handle(_ readiness: Readiness) {
    let isGone = !readiness.isDisjoint(with: [.hangUp, .error])
    if isBlocked, isGone || readiness.contains(.write) {
      isBlocked = false
      writeOutput()
      settle()
      guard isOpen else { return }
      if !hasUnflushedOutput, !isPeerDeaf { onDrained?() }
    }
    guard isOpen else { return }
    if !isReadingPaused, !isClosing, !isHeardOut {
      if isGone || readiness.contains(.read) { receive() }
    } else if isGone, let registration {
      // Hanging up is reported unasked and again and again; whoever resumes will read the end.
      loop.deregister(registration)
      self.registration = nil
    }
  }

  /// Delivers what has arrived without asking the loop; false where that is nothing.
  ///
  /// For a peer whose answer is expected now: one call of the system for each message, and not two.
  public func receiveNow() -> Bool {
    guard isOpen, !isReadingPaused, !isClosing, !isBlocked else { return false }
    return receive()
  }

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
    case .endOfFile where isHeardOut: return false
    case .endOfFile: end(isMidMessage ? .midFrame : .endOfFile)
    case .bytes(let count):
      lastReceiveAt = loop.wokeAt
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      if encoding == .frames {
        decoder.append(bytes)
      } else if !takeUnframed(bytes) {
        return true
      }
      deliver()
    }
    return true
  }

  /// Takes bytes of a peer that has not begun with a frame; false where it has begun with neither a frame nor a line.
  private func takeUnframed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if encoding == nil { encoding = bytes.first.flatMap { MessageEncoding(firstByte: $0) } }
    switch encoding {
    case .frames: decoder.append(bytes)
    case .lines: lines.append(bytes)
    case nil:
      let words = "the first byte is \(bytes.first ?? 0), which begins neither a frame nor a line of JSON"
      breakOff(because: .malformed(words))
      return false
    }
    return true
  }

  /// Hands out every whole message, for as long as the handlers want them.
  func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while isOpen, !isReadingPaused, !isClosing {
      let message: Incoming
      do throws(ChannelEnd) {
        guard let next = try nextMessage() else {
          if isMidMessage { onPart?() }
          return
        }
        message = next
      } catch {
        return breakOff(because: error)
      }
      onMessage?(message)
    }
  }

  private func nextMessage() throws(ChannelEnd) -> Incoming? {
    guard encoding == .frames else { return try nextLine() }
    guard let body = try nextBody() else { return nil }
    if let message = body.withUnsafeBufferPointer({ Incoming.readDirectly($0) }) { return message }
    do throws(CBORDecodingError) { return try CBORDecoder().decode(Incoming.self, from: body) } catch {
      throw .malformed(error.description)
    }
  }

  private func nextBody() throws(ChannelEnd) -> ArraySlice<UInt8>? {
    do throws(FrameError) { return try decoder.next() } catch {
      if case .bodyTooLong = error { throw .oversized }
      throw .malformed(error.description)
    }
  }
}

extension MessageChannel {
  private func nextLine() throws(ChannelEnd) -> Incoming? {
    let next: ArraySlice<UInt8>?
    do throws(LineError) { next = try lines.next() } catch { throw .oversized }
    guard let line = next else { return nil }
    do throws(LineFault) {
      return try line.withUnsafeBufferPointer { bytes throws(LineFault) in try Incoming.readLine(bytes) }
    } catch {
      throw .malformed(error.description)
    }
  }
}

/// The thread's block for reading.
///
/// Its pages cost memory only once they are written to, so a process with small messages pays for small reads.
enum ReadBuffer {
  /// Bytes that one read can bring.
  static let size = 64 << 10

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
