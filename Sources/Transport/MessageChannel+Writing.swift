// Owns the way of bytes from the output buffer to the socket, and the end of a channel. Invariant: writing
// calls no handler; whatever it finds is kept in `failure` until `settle` tells it, so that an owner can send
// from anywhere without being called back. Failure: the end of the channel.
import Posix
import Wire

extension MessageChannel {
  /// An output buffer that has grown larger is given back when it runs empty, in bytes.
  private static var keptCapacity: Int { 64 << 10 }

  /// Writes what the kernel takes. It calls no handler; `settle` does.
  func writeOutput() {
    while hasUnflushedOutput, !isBlocked, failure == nil {
      switch writeOnce() {
      case .success(.bytes(let count)): written += count
      case .success(.wouldBlock):
        isBlocked = true
        if Kernel.makes("channelForgetsTheRest") { written = output.count }
        watch()
      case .success(.peerClosed):
        isPeerDeaf = true
        written = output.count
      case .failure(let error): failure = .system(error)
      }
    }
    dropWritten()
  }

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

  private func dropWritten() {
    if written == output.count {
      written = 0
      if output.capacity > Self.keptCapacity {
        output = []
      } else {
        output.removeAll(keepingCapacity: true)
      }
    } else if written > output.count / 2 {
      output.removeSubrange(..<written)
      written = 0
    }
  }

  /// Tells the owner what sending and writing have found, and stops waiting for a peer that takes everything.
  func settle() {
    if let failure { return end(failure) }
    if isClosing, !hasUnflushedOutput { return end(isPeerDeaf ? .endOfFile : .closedHere) }
    watch()
    if let failure { end(failure) }
  }

  /// Ends the channel of a peer that has broken the rules, with a word about which.
  func breakOff(because reason: ChannelEnd) {
    if let word = lastWord?(reason), isOpen {
      send(word)
      writeOutput()
    }
    end(reason)
  }

  func end(_ reason: ChannelEnd) {
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
    onPart = nil
    lastWord = nil
    onEnd = nil
    handler?(reason)
  }
}
