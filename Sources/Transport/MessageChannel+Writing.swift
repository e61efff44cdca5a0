// Output of a channel, and the end of the channel. Invariant: writing calls no handler; an error is stored in
// `failure` until `finishWriting` reports it. An owner can therefore call `send` anywhere and need not expect a
// callback. Errors: the end of the channel.
import Posix
import Wire

extension MessageChannel {
  /// Capacity in bytes above which an empty output buffer is freed.
  private static var retainedCapacity: Int { 64 << 10 }

  /// Writes as much as the kernel accepts.
  func writeOutput() {
    while hasUnflushedOutput, !isBlocked, failure == nil {
      switch writeOnce() {
      case .success(.bytes(let count)): written += count
      case .success(.wouldBlock):
        isBlocked = true
        watch()
      case .success(.peerClosed):
        isPeerReadClosed = true
        written = output.count
      case .failure(let error): failure = .system(error)
      }
    }
    dropWritten()
  }

  /// Makes one system call that writes pending output.
  private func writeOnce() -> Result<WriteResult, SystemError> {
    guard descriptor != nil else { return .success(.peerClosed) }
    return output.withUnsafeBytes { bytes in
      do throws(SystemError) {
        return .success(try descriptor!.send(UnsafeRawBufferPointer(rebasing: bytes[written...])))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Removes output that the kernel has accepted, once it is more than half of the buffer.
  private func dropWritten() {
    if written == output.count {
      written = 0
      if output.capacity > Self.retainedCapacity {
        output = []
      } else {
        output.removeAll(keepingCapacity: true)
      }
    } else if written > output.count / 2 {
      output.removeSubrange(..<written)
      written = 0
    }
  }

  /// Reports a stored error, ends a closing channel whose output is written, and updates the events that the
  /// loop watches.
  func finishWriting() {
    if let failure { return end(failure) }
    if isClosing, !hasUnflushedOutput { return end(isPeerReadClosed ? .endOfFile : .closedLocally) }
    watch()
    if let failure { end(failure) }
  }

  /// Ends the channel because the peer broke a rule. Before that, sends the result of ``finalMessage`` as far as the
  /// kernel accepts it.
  func failWithFinalMessage(because reason: CloseReason) {
    if let word = finalMessage?(reason), isOpen {
      send(word)
      writeOutput()
    }
    end(reason)
  }

  /// Ends the channel: closes the socket, removes all handlers, and calls ``onEnd``.
  func end(_ reason: CloseReason) {
    guard isOpen else { return }
    isOpen = false
    if let registration { loop.deregister(registration) }
    registration = nil
    descriptor = nil
    output = []
    written = 0
    let handler = onEnd
    onMessage = nil
    onDrained = nil
    onPartialMessage = nil
    finalMessage = nil
    onEnd = nil
    handler?(reason)
  }
}
