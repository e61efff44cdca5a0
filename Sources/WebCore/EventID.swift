// Owns the names of events in a stream, and the stream's own way of writing (HTML, section 9.2).
// Invariant: a name says which life of the server it is of, so nobody goes on from a place that another process counted.

/// The name of an event: which life of a page's feed, and which place in it.
public struct EventID: Sendable, Equatable {
  /// The life of the feed: another one with each process, and with each time that nobody viewed the page.
  public var epoch: UInt64
  /// The place, from 1.
  public var sequence: Int64

  public init(epoch: UInt64, sequence: Int64) { (self.epoch, self.sequence) = (epoch, sequence) }

  /// The name of a text; nil where it is none.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 1)
    guard text.utf8.count <= 40, parts.count == 2, let epoch = UInt64(parts[0], radix: 36),
      let sequence = Int64(parts[1]), sequence > 0
    else { return nil }
    self.init(epoch: epoch, sequence: sequence)
  }

  /// The name as text.
  public var text: String { String(epoch, radix: 36) + "-" + String(sequence) }
}

/// Events as they are written.
public enum EventText {
  /// An event with a name, a kind, and data on one line.
  public static func event(_ kind: String, _ id: EventID, data: String) -> [UInt8] {
    Array("id: \(id.text)\nevent: \(kind)\ndata: \(data)\n\n".utf8)
  }

  /// Says of which page of a stream the next events are, by its place in the request.
  public static func page(_ place: Int) -> [UInt8] { Array("event: page\ndata: \(place)\n\n".utf8) }

  /// How long a browser waits before it connects again, in milliseconds.
  public static func retry(_ milliseconds: Int) -> [UInt8] { Array("retry: \(milliseconds)\n\n".utf8) }
}
