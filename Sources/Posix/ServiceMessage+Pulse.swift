// Owns the fields that a guarded service and its guardian add to the manager's protocol: a numbered sign of progress, how
// long the sender may be silent, and the answer. It must not know what follows from silence.

import Time

extension ServiceMessage {
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
