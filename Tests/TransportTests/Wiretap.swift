// Both ends of one connection for a test: a channel, and the raw other end that can send anything. All of it
// is on one loop and one thread, so nothing is timed.

import Posix
import Time
import Wire

@testable import Transport

/// The messages of the channel under test.
struct Note: FrameMessage, Equatable {
  var number: Int
  var text: String

  init(_ number: Int, _ text: String = "") {
    self.number = number
    self.text = text
  }

  enum CodingKeys: Int, CodingKey {
    case number = 1
    case text = 2
  }
}

typealias NoteChannel = MessageChannel<Note, Note>

final class Wiretap {
  static let frameLimit = 256 << 10

  let loop: EventLoop
  var channel: NoteChannel
  var far: FileDescriptor?
  var notes: [Note] = []
  var ends: [CloseReason] = []

  init(backlogLimit: Int = 1 << 20, frameLimit: Int = Wiretap.frameLimit) throws {
    loop = try EventLoop()
    let pair = try UnixSocket.pair()
    channel = try NoteChannel(
      descriptor: pair.first, loop: loop, incomingLimit: frameLimit, backlogLimit: backlogLimit)
    far = consume pair.second
    channel.onMessage = { [unowned self] in notes.append($0) }
    channel.onEnd = { [unowned self] in ends.append($0) }
  }

  /// Runs the loop until there is nothing left to do now.
  func settle() throws {
    while try loop.runOnce(until: MonotonicTime(nanoseconds: 0)) > 0 {}
  }

  /// The far end sends these bytes.
  func send(_ bytes: some Collection<UInt8>) throws {
    try far!.writeAll(Array(bytes))
  }

  func hangUp() { far = nil }

  /// Bytes that the far end can read now, at most `limit`.
  func handle(limit: Int = 1 << 20) throws -> [UInt8] {
    try far!.setNonBlocking(true)
    var heard: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while heard.count < limit {
      let room = min(buffer.count, limit - heard.count)
      let result = try buffer.withUnsafeMutableBytes { try far!.read(into: .init(rebasing: $0[..<room])) }
      guard case .bytes(let count) = result else { break }
      heard.append(contentsOf: buffer[..<count])
    }
    return heard
  }
}

func frame(_ note: Note) throws -> [UInt8] {
  var bytes: [UInt8] = []
  try FrameEncoder().append(note, to: &bytes, limit: Wiretap.frameLimit)
  return bytes
}

func notes(in bytes: [UInt8]) throws -> [Note] {
  var decoder = FrameDecoder(maximumBodyLength: Wiretap.frameLimit)
  decoder.append(bytes)
  var notes: [Note] = []
  while let body = try decoder.next() { notes.append(try CBORDecoder().decode(Note.self, from: body)) }
  return notes
}
