// Fast path for requests that add customers with the same properties, and for their answers. Invariant: the bytes
// equal those of the Codable conformances. A method that returns nil or false selects the slow path.

import BankModel

extension ClientMessage: FrameMessage {
  /// Fast path: appends the bytes of an `enqueue` request without a payload, a due time or other rare properties.
  /// Returns false for any other message.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool {
    guard case .request(let request) = self, case .enqueue(let order) = request.command,
      order.hasExplicitSeed == nil, order.payload == nil, order.dueAt == nil, order.delay == nil,
      order.isCommandLine == nil
    else { return false }
    buffer.appendHeads(kind: 2, fields: 2)
    buffer.appendField(1, request.number)
    buffer.append(2)
    var fields: UInt8 = 3
    if order.service != nil { fields += 1 }
    if order.amount != nil { fields += 1 }
    if order.account != nil { fields += 1 }
    if order.key != nil { fields += 1 }
    if order.itemName != nil { fields += 1 }
    buffer.appendHeads(kind: 4, fields: fields)
    buffer.appendField(1, order.count)
    buffer.appendField(2, ifPresent: order.service?.text)
    buffer.appendField(3, order.priority.code)
    buffer.appendField(4, ifPresent: order.amount)
    buffer.appendField(5, ifPresent: order.account)
    buffer.appendField(6, order.seed)
    buffer.appendField(7, ifPresent: order.key)
    buffer.appendField(8, ifPresent: order.itemName)
    return true
  }

  /// Fast path: reads an `enqueue` request without a payload, a due time or other rare properties.
  /// Returns nil for any other message.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> ClientMessage? {
    var reader = DirectReader(body)
    reader.expectHeads(kind: 2, fields: 2)
    let number: UInt32 = reader.field(1)
    reader.expectField(2, kind: 4)
    let fields = reader.mapCount()
    var found: UInt8 = 3
    let count: Int64 = reader.field(1)
    let service = reader.text(2, counting: &found)
    let code: Int64 = reader.field(3)
    let amount: Int64? = reader.field(4, counting: &found)
    let account: Int64? = reader.field(5, counting: &found)
    let seed: UInt64 = reader.field(6)
    let key = reader.text(7, counting: &found)
    let itemName = reader.text(8, counting: &found)
    guard reader.isComplete, found == fields, let priority = Priority(code: code) else { return nil }
    let known = service.map { ServiceName($0) }
    if let known, known == nil { return nil }
    let order = EnqueueParameters(
      count: count, service: known ?? nil, priority: priority, amount: amount, account: account, seed: seed,
      key: key, itemName: itemName)
    return .request(ControlRequest(number: number, command: .enqueue(order)))
  }
}

extension BankMessage: AnswerMessage {
  /// Fast path: appends the bytes of an `enqueued` answer without `alreadyIssuedTickets`.
  /// Returns false for any other message.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool {
    guard case .reply(let reply) = self, case .enqueued(let tickets) = reply.answer,
      tickets.alreadyIssuedTickets == nil
    else { return false }
    buffer.appendHeads(kind: 3, fields: 3)
    buffer.appendField(1, reply.number)
    buffer.append(2)
    buffer.appendHeads(kind: 3, fields: 5)
    buffer.appendField(1, tickets.day)
    buffer.appendField(2, tickets.first)
    buffer.appendField(3, tickets.last)
    buffer.appendField(4, tickets.count)
    buffer.appendField(5, tickets.known)
    buffer.appendField(3, reply.more)
    return true
  }

  /// Fast path: reads an `enqueued` answer without `alreadyIssuedTickets`. Returns nil for any other message.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> BankMessage? {
    var reader = DirectReader(body)
    reader.expectHeads(kind: 3, fields: 3)
    let number: UInt32 = reader.field(1)
    reader.expectField(2, kind: 3)
    let fields = reader.mapCount()
    let tickets = EnqueuedReport(
      day: reader.field(1), first: reader.field(2), last: reader.field(3), count: reader.field(4),
      known: reader.field(5))
    let more = reader.flag(3)
    guard reader.isComplete, fields == 5 else { return nil }
    return .reply(ControlReply(number: number, answer: .enqueued(tickets), more: more))
  }
}
