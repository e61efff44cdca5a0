// Owns what is said to a worker in lines. Invariant: the keys stand in the order of the contract, and what the contract has
// no line for is not said. A payload is a string where it is valid UTF-8, and base 64 otherwise.

import BankModel
import JSON

extension WindowMessage {
  /// Appends the line of what is said to workers; nothing for what only tellers of this build are told.
  public func appendLine(to buffer: inout [UInt8]) {
    switch self {
    case .entrust(let order): order.append(to: &buffer)
    case .recall(let lease):
      buffer.append(line: #"{"recall":{"ticket":"#, lease.ticket)
      buffer.append(line: #","attempt":"#, lease.attempt)
      buffer.append(line: #","generation":"#, lease.generation)
      buffer.append(line: "}}")
    case .close: buffer.append(line: #"{"close":{}}"#)
    case .engaged(let terms):
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
  /// Its name in a line.
  fileprivate var word: String {
    switch self {
    case .version: "version"
    case .build: "build"
    case .hello: "hello"
    case .malformed: "malformed"
    case .crowded: "crowded"
    case .closing: "closing"
    case .service: "service"
    }
  }
}

extension WorkOrder {
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
