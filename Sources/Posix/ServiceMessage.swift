// Format of the messages that a service sends to its manager: lines of NAME=value, with all lines of one
// message in one datagram. Invariant: a value contains no line feed, so no part of a value can be mistaken for
// another field.

import Time

/// One message of a service to its manager. `sd_notify(3)`
public struct ServiceMessage: Sendable, Equatable {
  /// The fields in order. If two have the same name, the first one is used.
  public private(set) var fields: [Field] = []

  /// One line of a message.
  public struct Field: Sendable, Equatable {
    /// Name such as `READY`, `STATUS` or `X_…`.
    public let name: String
    /// Text after the `=`.
    public let value: String
  }

  public init() {}

  /// Parses a datagram. Lines without a name or an equals sign are skipped.
  public init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex else { continue }
      fields.append(
        Field(
          name: String(decoding: line[..<equals], as: UTF8.self),
          value: String(decoding: line[(equals + 1)...], as: UTF8.self)))
    }
  }

  /// Value of a field; nil if it is absent.
  public subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// This message with one more field.
  public func with(_ name: String, _ value: String) -> ServiceMessage {
    var message = self
    // Line feeds in the value become spaces.
    let line = String(decoding: value.utf8.map { $0 == UInt8(ascii: "\n") ? 32 : $0 }, as: UTF8.self)
    message.fields.append(Field(name: name, value: line))
    return message
  }

  /// This message without a field.
  public func without(_ name: String) -> ServiceMessage {
    var message = self
    message.fields.removeAll { $0.name == name }
    return message
  }

  /// The message as a datagram.
  public var bytes: [UInt8] { Array(fields.map { "\($0.name)=\($0.value)" }.joined(separator: "\n").utf8) }

  /// Message that the service is ready.
  public static func ready(status: String) -> ServiceMessage {
    ServiceMessage().with("READY", "1").with("STATUS", status)
  }

  /// Message that the service has started to shut down.
  public static var stopping: ServiceMessage { ServiceMessage().with("STOPPING", "1") }
  /// Message that the service is alive.
  public static var watchdog: ServiceMessage { ServiceMessage().with("WATCHDOG", "1") }
  /// Message with the current activity of the service, as a text for people.
  public static func status(_ text: String) -> ServiceMessage { ServiceMessage().with("STATUS", text) }
  /// True if the message reports that the service is ready.
  public var isReady: Bool { self["READY"] == "1" }
  /// True if the message reports that the service has started to shut down.
  public var isStopping: Bool { self["STOPPING"] == "1" }
  /// Process id of the service, as stated in the message; nil if it is absent or invalid.
  public var mainPid: Int32? { self["MAINPID"].flatMap { Int32($0) } }

  private static let heartbeatField = "X_PROGRESS"
  private static let patienceField = "X_PATIENCE_MS"

  /// Adds a numbered progress report, which the receiver acknowledges with the same number. `patience` is the maximum
  /// time between two reports of the sender; nil if the receiver has it already.
  public func withHeartbeat(_ number: Int64, patience: TimeSpan? = nil) -> ServiceMessage {
    let message = with(Self.heartbeatField, "\(number)")
    return patience.map { message.with(Self.patienceField, "\($0.milliseconds)") } ?? message
  }

  /// Number of a progress report, or of its acknowledgement.
  public var heartbeat: Int64? { self[Self.heartbeatField].flatMap { Int64($0) } }

  /// Maximum time between two reports of the sender; nil if it is absent or out of range.
  public var patience: TimeSpan? {
    guard let count = self[Self.patienceField].flatMap({ Int64($0) }), (1...86_400_000).contains(count) else {
      return nil
    }
    return .milliseconds(count)
  }

  /// The message without the fields of a progress report.
  public var withoutHeartbeat: ServiceMessage { without(Self.heartbeatField).without(Self.patienceField) }
}
