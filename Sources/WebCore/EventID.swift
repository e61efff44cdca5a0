// Ids of events in a stream, and the format of the stream (HTML, section 9.2).
// Invariant: an id contains the epoch of its feed, so a client cannot resume from a position that another feed counted.

/// Id of an event, from which a browser resumes a stream. It contains the number of the page's feed (`epoch`, new at
/// each start of the feed) and the number of the event in the feed.
public struct EventID: Sendable, Equatable {
  /// Epoch of the feed.
  public var epoch: UInt64
  /// Position, from 1.
  public var sequence: Int64

  public init(epoch: UInt64, sequence: Int64) { (self.epoch, self.sequence) = (epoch, sequence) }

  /// Parses an id; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 1)
    guard text.utf8.count <= 40, parts.count == 2, let epoch = UInt64(parts[0], radix: 36),
      let sequence = Int64(parts[1]), sequence > 0
    else { return nil }
    self.init(epoch: epoch, sequence: sequence)
  }

  /// The id as text.
  public var text: String { String(epoch, radix: 36) + "-" + String(sequence) }
}

/// Encodes events in the format of an event stream.
public enum EventText {
  /// An event with an id, a kind, and data on one line.
  public static func event(_ kind: String, _ id: EventID, data: String) -> [UInt8] {
    Array("id: \(id.text)\nevent: \(kind)\ndata: \(data)\n\n".utf8)
  }

  /// States to which page of a stream the next events belong, as the index of the page in the request.
  public static func page(_ index: Int) -> [UInt8] { Array("event: page\ndata: \(index)\n\n".utf8) }

  /// Line of a stream that sets the delay before a browser reconnects, in milliseconds.
  public static func retry(_ milliseconds: Int) -> [UInt8] { Array("retry: \(milliseconds)\n\n".utf8) }
}
