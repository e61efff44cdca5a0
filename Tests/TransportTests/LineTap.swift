// Both ends of one connection on which the peer chooses the encoding: the coordinator's channel, and a raw
// other end. All of it is on one loop and one thread, so nothing is timed.

import BankModel
import Posix
import Time
import Wire

@testable import Transport

final class LineTap {
  typealias Channel = MessageChannel<TellerMessage, MessageToTeller>

  let loop: EventLoop
  let channel: Channel
  var far: FileDescriptor?
  var heard: [TellerMessage] = []
  var ends: [CloseReason] = []

  init(lineLimit: Int? = LineLimits.worker, backlogLimit: Int = 1 << 20) throws {
    loop = try EventLoop()
    let pair = try UnixSocket.pair()
    channel = try Channel(
      descriptor: pair.first, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: backlogLimit,
      lineLimit: lineLimit)
    far = consume pair.second
    channel.onMessage = { [unowned self] in heard.append($0) }
    channel.onEnd = { [unowned self] in ends.append($0) }
  }

  func settle() throws { while try loop.runOnce(until: MonotonicTime(nanoseconds: 0)) > 0 {} }

  /// The far end sends these bytes, as much at a time as the socket takes.
  func send(_ bytes: some Collection<UInt8>) throws {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      try far!.writeAll(Array(rest.prefix(60_000)))
      rest = rest.dropFirst(60_000)
      try settle()
    }
  }

  func send(_ text: String) throws { try send(text.utf8) }

  func hangUp() { far = nil }

  /// Bytes that the far end can read now, at most `limit`.
  func read(limit: Int = 1 << 20) throws -> [UInt8] {
    try far!.setNonBlocking(true)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < limit {
      let room = min(buffer.count, limit - bytes.count)
      let result = try buffer.withUnsafeMutableBytes { try far!.read(into: .init(rebasing: $0[..<room])) }
      guard case .bytes(let count) = result else { break }
      bytes.append(contentsOf: buffer[..<count])
    }
    return bytes
  }

  func readText() throws -> String { String(decoding: try read(), as: UTF8.self) }

  /// Sends this and flushes at once.
  func notify(_ message: MessageToTeller) {
    channel.send(message)
    channel.flush()
  }
}
