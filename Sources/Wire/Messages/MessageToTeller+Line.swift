// Lines to a worker. Invariant: the keys are in the order of the documented protocol, and messages that have no
// line in the protocol are not sent. A payload is a string if it is valid UTF-8, or else a base64 string under
// another key.

import BankModel
import JSON

extension MessageToTeller {
  /// Appends a message to a worker as a line. Appends nothing for a message without a line form.
  public func appendLine(to buffer: inout [UInt8]) {
    switch self {
    case .assignWork(let order): order.append(to: &buffer)
    case .recall(let lease):
      buffer.append(line: #"{"recall":{"ticket":"#, lease.ticket)
      buffer.append(line: #","attempt":"#, lease.attempt)
      buffer.append(line: #","generation":"#, lease.generation)
      buffer.append(line: "}}")
    case .close: buffer.append(line: #"{"close":{}}"#)
    case .workerAccepted(let terms):
      buffer.append(line: #"{"welcome":{"lease_ms":"#, terms.leaseMilliseconds)
      buffer.append(line: #","beat_ms":"#, terms.beatMilliseconds)
      buffer.append(line: "}}")
    case .refused(let refusal):
      buffer.append(line: #"{"refused":{"reason":"#, refusal.reason.word)
      buffer.append(line: #","text":"#, refusal.detail)
      buffer.append(line: "}}")
    case .welcome, .assign, .acknowledged, .closing: break
    }
  }
}

extension Refusal.Reason {
  /// The reason as it appears in a line.
  fileprivate var word: String {
    switch self {
    case .version: "version"
    case .build: "build"
    case .hello: "hello"
    case .malformed: "malformed"
    case .crowded: "too_many_connections"
    case .closing: "closing"
    case .service: "service"
    }
  }
}

extension WorkItem {
  /// Appends the assignment as a line.
  fileprivate func append(to buffer: inout [UInt8]) {
    buffer.append(line: #"{"assign":{"day":"#, day)
    buffer.append(line: #","ticket":"#, ticket)
    buffer.append(line: #","attempt":"#, attempt)
    buffer.append(line: #","generation":"#, generation)
    buffer.append(line: #","service":"#, service.text)
    buffer.append(line: #","priority":"#, priority)
    if let payload { Self.append(payload, to: &buffer) }
    buffer.append(line: #","key":"#, key)
    if let deadlineMilliseconds { buffer.append(line: #","deadline_ms":"#, deadlineMilliseconds) }
    buffer.append(line: "}}")
  }

  /// Appends the key and the value of a payload.
  private static func append(_ payload: [UInt8], to buffer: inout [UInt8]) {
    if (try? UTF8Span(validating: payload.span)) != nil {
      buffer.append(line: #","payload":"#)
      payload.withUnsafeBufferPointer { buffer.append(quoted: $0) }
    } else {
      buffer.append(line: #","payload_b64":""#)
      Base64.append(payload, to: &buffer)
      buffer.append(UInt8(ascii: "\""))
    }
  }
}
