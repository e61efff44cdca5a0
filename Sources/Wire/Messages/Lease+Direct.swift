// Owns the short way for what is said once a customer: who comes to a window, and what became of it.
// It must not differ from the Codable conformances beside it in any byte; the tests compare them.
// Failure: nil or false, and the long way is taken.

import BankModel

extension TellerMessage: FrameMessage {
  /// Leases that are done or returned, and beats.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool {
    switch self {
    case .done(let lease): lease.append(to: &buffer, kind: 3)
    case .returned(let lease): lease.append(to: &buffer, kind: 5)
    case .beat(let lease): lease.append(to: &buffer, kind: 6)
    case .hello, .ready, .failed, .outOfStock, .worked, .progressed: return false
    }
    return true
  }

  /// Leases that are done or returned, and beats.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> TellerMessage? {
    guard body.count > 1 else { return nil }
    switch body[1] {
    case 3: return Lease.read(body, kind: 3).map { .done($0) }
    case 5: return Lease.read(body, kind: 5).map { .returned($0) }
    case 6: return Lease.read(body, kind: 6).map { .beat($0) }
    default: return nil
    }
  }
}

extension WindowMessage: FrameMessage {
  /// Assignments, acknowledgements and recalls.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool {
    switch self {
    case .assign(let assignment):
      guard assignment.payload == nil else { return false }
      assignment.append(to: &buffer, kind: 3)
    case .acknowledged(let lease): lease.append(to: &buffer, kind: 4)
    case .recall(let lease): lease.append(to: &buffer, kind: 5)
    case .welcome, .refused, .close, .closing, .engaged, .entrust: return false
    }
    return true
  }

  /// Assignments, acknowledgements and recalls.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> WindowMessage? {
    guard body.count > 1 else { return nil }
    switch body[1] {
    case 3: return Assignment.read(body, kind: 3).map { .assign($0) }
    case 4: return Lease.read(body, kind: 4).map { .acknowledged($0) }
    case 5: return Lease.read(body, kind: 5).map { .recall($0) }
    default: return nil
    }
  }
}

extension Lease {
  fileprivate func append(to buffer: inout [UInt8], kind: UInt8) {
    buffer.append(heads: 9) {
      $0.put(kind: kind, fields: 3)
      $0.put(field: 1, ticket)
      $0.put(field: 2, attempt)
      $0.put(field: 3, generation)
    }
  }

  fileprivate static func read(_ body: UnsafeBufferPointer<UInt8>, kind: UInt8) -> Lease? {
    var reader = DirectReader(body)
    reader.expectHeads(kind: kind, fields: 3)
    let lease = Lease(ticket: reader.field(1), attempt: reader.field(2), generation: reader.field(3))
    return reader.isComplete ? lease : nil
  }
}

extension Assignment {
  fileprivate func append(to buffer: inout [UInt8], kind: UInt8) {
    buffer.append(heads: 19) {
      $0.put(kind: kind, fields: 8 + (article == nil ? 0 : 1) + (order == nil ? 0 : 1))
      $0.put(field: 1, ticket)
      $0.put(field: 2, attempt)
      $0.put(field: 3, generation)
      $0.put(field: 4, day)
      $0.put(field: 5, service.number)
      $0.put(field: 6, priority.code)
      $0.put(field: 7, amount)
      $0.put(field: 8, account)
    }
    buffer.appendField(9, ifPresent: article)
    buffer.appendField(10, ifPresent: order?.text)
  }

  fileprivate static func read(_ body: UnsafeBufferPointer<UInt8>, kind: UInt8) -> Assignment? {
    var reader = DirectReader(body)
    reader.expectHeads(kind: kind)
    let fields = reader.mapCount()
    var found: UInt8 = 8
    let lease = Lease(ticket: reader.field(1), attempt: reader.field(2), generation: reader.field(3))
    let day: Int64 = reader.field(4)
    let number: UInt16 = reader.field(5)
    guard number >= 1, let priority = Priority(code: reader.field(6))
    else { return nil }
    var assignment = Assignment(
      day: day, lease: lease, service: Service(number: number), priority: priority, amount: reader.field(7),
      account: reader.field(8))
    assignment.article = reader.text(9, counting: &found)
    assignment.order = reader.text(10, counting: &found).map { OrderID($0) }
    return reader.isComplete && found == fields ? assignment : nil
  }
}
