// Owns the shape of what a service tells its manager: lines of NAME=value, all of one message in one
// datagram. Invariant: a value never holds a line feed, so no value can pass for another field. Failure:
// none; what is no field is skipped when it is read.

import Time

/// One message of a service to its manager. `sd_notify(3)`
public struct ServiceMessage: Sendable, Equatable {
  /// The fields in their order; a name may come twice, and then the first counts.
  public private(set) var fields: [Field] = []

  /// One line.
  public struct Field: Sendable, Equatable {
    /// `READY`, `STATUS`, `X_…`.
    public let name: String
    /// What stands behind the `=`.
    public let value: String
  }

  public init() {}

  /// Reads a datagram.
  public init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex else { continue }
      fields.append(
        Field(
          name: String(decoding: line[..<equals], as: UTF8.self),
          value: String(decoding: line[(equals + 1)...], as: UTF8.self)))
    }
  }

  /// The value of a field; nil where it is not said.
  public subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The same message with one field more.
  public func with(_ name: String, _ value: String) -> ServiceMessage {
    var message = self
    // A value of several lines becomes one.
    let line = String(decoding: value.utf8.map { $0 == UInt8(ascii: "\n") ? 32 : $0 }, as: UTF8.self)
    message.fields.append(Field(name: name, value: line))
    return message
  }

  /// The same message without a field.
  public func without(_ name: String) -> ServiceMessage {
    var message = self
    message.fields.removeAll { $0.name == name }
    return message
  }

  /// The datagram.
  public var bytes: [UInt8] { Array(fields.map { "\($0.name)=\($0.value)" }.joined(separator: "\n").utf8) }

  /// The service is ready to serve.
  public static func ready(status: String) -> ServiceMessage {
    ServiceMessage().with("READY", "1").with("STATUS", status)
  }

  /// The service begins to end.
  public static var stopping: ServiceMessage { ServiceMessage().with("STOPPING", "1") }
  /// The service is alive.
  public static var watchdog: ServiceMessage { ServiceMessage().with("WATCHDOG", "1") }
  /// What the service is doing, for people.
  public static func status(_ text: String) -> ServiceMessage { ServiceMessage().with("STATUS", text) }
  /// Whether the service says that it is ready.
  public var isReady: Bool { self["READY"] == "1" }
  /// Whether it says that it begins to end.
  public var isStopping: Bool { self["STOPPING"] == "1" }
  /// The process that it says it is.
  public var mainPid: Int32? { self["MAINPID"].flatMap { Int32($0) } }

  private static let pulseField = "X_PROGRESS"
  private static let patienceField = "X_PATIENCE_MS"

  /// A numbered sign of progress, which the receiver answers with the same number.
  ///
  /// - Parameter patience: how long the sender may be silent; nil where the receiver knows.
  public func withPulse(_ number: Int64, patience: TimeSpan? = nil) -> ServiceMessage {
    let message = with(Self.pulseField, "\(number)")
    return patience.map { message.with(Self.patienceField, "\($0.milliseconds)") } ?? message
  }

  /// The number of a sign of progress, or of an answer to one.
  public var pulse: Int64? { self[Self.pulseField].flatMap { Int64($0) } }

  /// How long the sender may be silent; nil where it does not say, or says nonsense.
  public var patience: TimeSpan? {
    guard let count = self[Self.patienceField].flatMap({ Int64($0) }), (1...86_400_000).contains(count) else {
      return nil
    }
    return .milliseconds(count)
  }

  /// The message without these fields.
  public var withoutPulse: ServiceMessage { without(Self.pulseField).without(Self.patienceField) }
}
