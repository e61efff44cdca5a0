// Fast path for frequent messages: the assignment to a teller, its acknowledgement, recall, progress and result.
// Invariant: the bytes equal those of the Codable conformances. A method that returns nil or false selects the slow
// path.

import BankModel

extension TellerMessage: FrameMessage {
  /// Fast path: appends the bytes of a done, returned, worked or beat message. Returns false for any other message.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool {
    switch self {
    case .done(let lease): lease.append(to: &buffer, kind: 3)
    case .returned(let lease): lease.append(to: &buffer, kind: 5)
    case .beat(let lease): lease.append(to: &buffer, kind: 6)
    case .worked(let lease, let result): result.append(to: &buffer, of: lease, kind: 8)
    case .hello, .ready, .failed, .outOfStock, .progressed: return false
    }
    return true
  }

  /// Fast path: reads a done, returned, worked or beat message. Returns nil for any other message.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> TellerMessage? {
    guard body.count > 1 else { return nil }
    switch body[1] {
    case 3: return Lease.read(body, kind: 3).map { .done($0) }
    case 5: return Lease.read(body, kind: 5).map { .returned($0) }
    case 6: return Lease.read(body, kind: 6).map { .beat($0) }
    case 8: return WorkResult.read(body, kind: 8).map { .worked($0, $1) }
    default: return nil
    }
  }
}

extension MessageToTeller: FrameMessage {
  /// Fast path: appends the bytes of an assignment, an acknowledgement or a recall.
  /// Returns false for any other message.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool {
    switch self {
    case .assign(let assignment): assignment.append(to: &buffer, kind: 3)
    case .acknowledged(let lease): lease.append(to: &buffer, kind: 4)
    case .recall(let lease): lease.append(to: &buffer, kind: 5)
    case .welcome, .refused, .close, .closing, .workerAccepted, .assignWork: return false
    }
    return true
  }

  /// Fast path: reads an assignment, an acknowledgement or a recall. Returns nil for any other message.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> MessageToTeller? {
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
  /// Appends a message that contains only this lease.
  fileprivate func append(to buffer: inout [UInt8], kind: UInt8) {
    buffer.append(heads: 9) {
      $0.put(kind: kind, fields: 3)
      put(into: &$0)
    }
  }

  /// Writes the three fields of a lease.
  fileprivate func put(into writer: inout DirectWriter) {
    writer.put(field: 1, ticket)
    writer.put(field: 2, attempt)
    writer.put(field: 3, generation)
  }

  /// Reads a message that contains only a lease; nil if the fast path does not cover it.
  fileprivate static func read(_ body: UnsafeBufferPointer<UInt8>, kind: UInt8) -> Lease? {
    var reader = DirectReader(body)
    reader.expectHeads(kind: kind, fields: 3)
    let lease = Lease(from: &reader)
    return reader.isComplete ? lease : nil
  }

  /// Reads the three fields of a lease.
  fileprivate init(from reader: inout DirectReader) {
    self.init(ticket: reader.field(1), attempt: reader.field(2), generation: reader.field(3))
  }
}

extension Assignment {
  /// Appends a message that contains this assignment.
  fileprivate func append(to buffer: inout [UInt8], kind: UInt8) {
    let fields: UInt8 = 8 + (itemName == nil ? 0 : 1) + (order == nil ? 0 : 1) + (payload == nil ? 0 : 1)
    buffer.append(heads: 19) {
      $0.put(kind: kind, fields: fields)
      lease.put(into: &$0)
      $0.put(field: 4, day)
      $0.put(field: 5, service.number)
      $0.put(field: 6, priority.code)
      $0.put(field: 7, amount)
      $0.put(field: 8, account)
    }
    buffer.appendField(9, ifPresent: itemName)
    buffer.appendField(10, ifPresent: order?.text)
    if let payload { buffer.appendField(11, bytes: payload) }
  }

  /// Reads an assignment; nil if the fast path does not cover it.
  fileprivate static func read(_ body: UnsafeBufferPointer<UInt8>, kind: UInt8) -> Assignment? {
    var reader = DirectReader(body)
    reader.expectHeads(kind: kind)
    let fields = reader.mapCount()
    var found: UInt8 = 8
    let lease = Lease(from: &reader)
    let day: Int64 = reader.field(4)
    let number: UInt16 = reader.field(5)
    guard number >= 1, let priority = Priority(code: reader.field(6))
    else { return nil }
    var assignment = Assignment(
      day: day, lease: lease, service: Service(number: number), priority: priority, amount: reader.field(7),
      account: reader.field(8))
    assignment.itemName = reader.text(9, counting: &found)
    assignment.order = reader.text(10, counting: &found).map { OrderID($0) }
    assignment.payload = reader.bytes(11, counting: &found)
    return reader.isComplete && found == fields ? assignment : nil
  }
}

extension WorkResult {
  /// Appends a message with a lease and this result.
  fileprivate func append(to buffer: inout [UInt8], of lease: Lease, kind: UInt8) {
    buffer.appendHeads(kind: kind, fields: 2)
    buffer.appendField(1, mapOf: 3)
    buffer.append(heads: 6) { lease.put(into: &$0) }
    var fields: UInt8 = 1
    if ending?.exitCode != nil { fields += 1 }
    if ending?.exitSignal != nil { fields += 1 }
    if output != .nothing { fields += 1 }
    if errors != .nothing { fields += 1 }
    buffer.appendField(2, mapOf: fields)
    buffer.appendField(1, duration.milliseconds)
    buffer.appendField(2, ifPresent: ending?.exitCode)
    buffer.appendField(3, ifPresent: ending?.exitSignal)
    output.append(to: &buffer, 4)
    errors.append(to: &buffer, 5)
  }

  /// Reads a message with a lease and a result; nil if the fast path does not cover it.
  fileprivate static func read(
    _ body: UnsafeBufferPointer<UInt8>, kind: UInt8
  ) -> (Lease, WorkResult)? {
    var reader = DirectReader(body)
    reader.expectHeads(kind: kind, fields: 2)
    reader.expectField(1)
    guard reader.mapCount() == 3 else { return nil }
    let lease = Lease(from: &reader)
    reader.expectField(2)
    let fields = reader.mapCount()
    var found: UInt8 = 1
    let milliseconds: Int64 = reader.field(1)
    let code: Int32? = reader.field(2, counting: &found)
    let signal: Int32? = reader.field(3, counting: &found)
    let output = TruncatedOutput.read(4, from: &reader, counting: &found)
    let errors = TruncatedOutput.read(5, from: &reader, counting: &found)
    guard reader.isComplete, found == fields, milliseconds >= 0, let output, let errors else { return nil }
    let result = WorkResult(
      ending: ProcessEnd(code: code, signal: signal), duration: .milliseconds(milliseconds), output: output,
      errors: errors)
    return (lease, result)
  }
}

extension TruncatedOutput {
  /// Appends the excerpt as a field. Appends nothing for an empty excerpt.
  fileprivate func append(to buffer: inout [UInt8], _ key: UInt8) {
    guard self != .nothing else { return }
    buffer.appendField(key, mapOf: 2 + (last.isEmpty ? 0 : 1) + (filed > 0 ? 1 : 0))
    buffer.appendField(1, length)
    buffer.appendField(2, bytes: first)
    if !last.isEmpty { buffer.appendField(3, bytes: last) }
    if filed > 0 { buffer.appendField(4, filed) }
  }

  /// Reads an optional field with an excerpt. Returns nil if the excerpt is invalid.
  fileprivate static func read(
    _ key: UInt8, from reader: inout DirectReader, counting present: inout UInt8
  ) -> TruncatedOutput? {
    guard reader.isAt(key) else { return .nothing }
    present += 1
    reader.expectField(key)
    let fields = reader.mapCount()
    var found: UInt8 = 2
    let length: Int64 = reader.field(1)
    let first = reader.bytes(2)
    let last = reader.bytes(3, counting: &found) ?? []
    let filed: Int64 = reader.field(4, counting: &found) ?? 0
    guard found == fields, first.count + last.count <= Self.longest else { return nil }
    return TruncatedOutput(first: first, last: last, length: length, filed: filed)
  }
}
