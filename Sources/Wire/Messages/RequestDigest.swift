// Digest of a request for tickets: two requests with the same key are the same request if their digests are equal.
// The digest covers the request and not the random draws: a client that repeats `enqueue 5 --key k` makes the same
// request, although it draws other customers. Invariant: the digest of a request must not change, because it is
// stored on disk.

import BankModel

/// Digest of a request for tickets, by which a repeated request with the same idempotency key is recognized: 64-bit
/// FNV-1a over its parts. A number follows a byte that marks its presence; a text and a payload follow their length.
struct RequestDigest {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Digest of the parts that were added.
  var value: Int64 { Int64(bitPattern: state) }
  /// Adds one byte.
  private mutating func add(byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

  /// Adds a number, or its absence.
  mutating func add(_ number: Int64?) {
    guard let number else { return add(byte: 0) }
    add(byte: 1)
    let bits = UInt64(bitPattern: number)
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      add(byte: UInt8(truncatingIfNeeded: bits >> shift))
    }
  }

  /// Adds a text and its length.
  mutating func add(_ text: String) {
    add(Int64(text.utf8.count))
    for byte in text.utf8 { add(byte: byte) }
  }

  /// Adds a payload and its length. Without a payload nothing is added, so that requests without one keep the digest
  /// that they had before payloads existed.
  private mutating func add(payload bytes: [UInt8]?) {
    guard let bytes else { return }
    add(Int64(bytes.count))
    for byte in bytes { add(byte: byte) }
  }

  /// Adds the due time or the delay as the client has requested it, so that a request with a delay has the same
  /// digest when it is repeated later. Without both, nothing is added.
  private mutating func add(dueAt: Int64?, delay: Int64?) {
    if let dueAt {
      add(byte: 2)
      add(dueAt)
    }
    if let delay {
      add(byte: 3)
      add(delay)
    }
  }

  /// Digest of customers with the same properties. A nil service, amount or account is drawn at random.
  init(
    count: Int64, service: Service?, priority: Priority, amount: Int64?, account: Int64?, itemName: String,
    seed: UInt64?, payload: [UInt8]?, dueAt: Int64?, delay: Int64?
  ) {
    add(count)
    add(service.map { Int64($0.number) })
    add(Int64(priority.code))
    add(amount)
    add(account)
    add(itemName)
    add(seed.map { Int64(bitPattern: $0) })
    add(payload: payload)
    add(dueAt: dueAt, delay: delay)
  }
}

extension EnqueueParameters {
  /// Digest of this request, by which a repetition under the same idempotency key is recognized.
  ///
  /// - Parameter service: number of the service; nil if the service is drawn.
  public func digest(for service: Service?) -> Int64 {
    // A seed that the user has not chosen may differ in a repetition. A seed has no effect if nothing is drawn.
    let isDrawn = service == nil || amount == nil || account == nil
    return RequestDigest(
      count: count, service: service, priority: priority, amount: amount, account: account,
      itemName: itemName ?? "",
      seed: hasExplicitSeed == true && isDrawn ? seed : nil, payload: payload, dueAt: dueAt, delay: delay
    ).value
  }
}

extension EnqueueEntry {
  /// Digest of a request for this one customer, by which a repetition under the same idempotency key is recognized.
  /// Nil if the client has not sent `drawn`.
  ///
  /// - Parameter service: the number of the service.
  public func digest(for service: Service) -> Int64? {
    guard let drawn else { return nil }
    return RequestDigest(
      count: 1, service: drawn.contains(.service) ? nil : service, priority: priority,
      amount: drawn.contains(.amount) ? nil : amount, account: drawn.contains(.account) ? nil : account,
      itemName: "", seed: nil, payload: payload, dueAt: dueAt, delay: delay
    ).value
  }
}
