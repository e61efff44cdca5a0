// Wire tap of the connections to the services, and of the coordinator's answers: reads each request, answer and update
// when it is written, before any process can read it. Subscribers must be sent every change in order, on each
// connection. This is checked here because clients would detect a gap and subscribe again.
import BankModel
import QueueCore
import Time
import Wire

final class WireEar {
  private struct StockConnection {
    var requests: [UInt32: StockRequest] = [:]
    /// Number of the last change that each subscription has received, before or on this connection; nil for none.
    var told: [UInt32: Int64?] = [:]
  }

  weak var world: Simulation?
  private var decoders: [Int: FrameDecoder] = [:]
  private var stock: [Int: StockConnection] = [:]
  private var vending: [Int: [UInt32: (request: VendingRequest, moment: Int)]] = [:]
  private var greetings: [Int: MonotonicTime] = [:]
  private var boards = BoardWatch()

  func hear(_ bytes: [UInt8], by process: SimulatedProcess, on end: StreamEnd) {
    guard let world, let peer = end.peer, !world.isForeign(end), !world.isForeign(peer) else { return }
    let server = end.isServers ? end : peer
    let connection = server.number
    if !server.isServers { return hearSupervisor(bytes, of: end, by: process) }
    switch server.maker {
    case world.coordinator?.process.pid where end.isServers:
      for body in bodies(of: bytes, on: end) {
        guard case .reply(let reply) = decode(BankMessage.self, body) else { continue }
        switch reply.answer {
        case .enqueued(let report) where report.count > 0:
          world.checker.spoken(IssuedTickets(day: report.day, first: report.first, last: report.last))
        case .audit(let report): hear(report, in: world)
        case .board(let frame):
          guard
            let words = boards.objection(
              to: frame, connection, reply.number, by: world.checker, at: process.clock,
              process.wall)
          else { continue }
          world.violate(.board, words)
        default: break
        }
      }
    case world.scene.service?.pid:
      hear(bytes, on: end, connection) { (request: StockRequest) in
        hear(request, by: process, on: connection)
      } replies: { (reply: StockReply) in
        hear(reply, on: connection)
      }
    case world.vending.machine?.pid:
      hear(bytes, on: end, connection) { (request: VendingRequest) in
        hear(request, on: connection)
      } replies: { (reply: VendingReply) in
        hear(reply, on: connection)
      }
    default: break
    }
  }

  private func hear<Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable>(
    _ bytes: [UInt8], on end: StreamEnd, _ connection: Int, requests: (Request) -> Void,
    replies: (NumberedReply<Result>) -> Void
  ) {
    for body in bodies(of: bytes, on: end) {
      if end.isServers {
        switch decode(ServiceAnswer<Result>.self, body) {
        case .reply(let reply): replies(reply)
        case .refused(let refusal): hear(refusal, on: connection)
        default: break
        }
      } else {
        switch decode(ServiceQuestion<Request>.self, body) {
        case .request(let request): requests(request)
        case .hello: greetings[connection] = world?.clock.now
        default: break
        }
      }
    }
  }

  /// Checks an audit, which must not find a problem. A service that could not be audited is allowed, unless it did not
  /// answer because the bank had already stopped its services.
  private func hear(_ report: AuditReport, in world: Simulation) {
    world.statistics.audits += 1
    for finding in report.findings {
      switch finding.source {
      case .unauditedStock, .unauditedMachine:
        guard finding.kind == .noAnswer, world.coordinator?.hasDismissedServices == true else { continue }
        world.violate(.audit, "the bank closes, and an audit finds: \(finding)")
      default: world.violate(.audit, "an audit finds: \(finding)")
      }
    }
  }

  /// Reads a coordinator's messages to a service that it has started, to find the requests to exit and the health
  /// checks.
  private func hearSupervisor(_ bytes: [UInt8], of end: StreamEnd, by process: SimulatedProcess) {
    guard let world, process === world.coordinator?.process else { return }
    for service in [world.scene.service, world.vending.machine].compactMap(\.self) {
      guard case .stream(let stream)? = service.descriptors[3], stream === end.peer else { continue }
      for body in bodies(of: bytes, on: end) {
        switch decode(SupervisorMessage.self, body) {
        case .close: world.condemned.insert(service.pid)
        // The service may be killed right after its answer to the check, which then arrives after its
        // exit.
        case .check: world.serviceIsChecked(service)
        default: break
        }
      }
    }
  }

  private func bodies(of bytes: [UInt8], on end: StreamEnd) -> [[UInt8]] {
    let wire = end.number
    var decoder = decoders[wire] ?? FrameDecoder(maximumBodyLength: FrameLimits.control)
    defer { decoders[wire] = decoder }
    decoder.append(bytes)
    var bodies: [[UInt8]] = []
    do { while let body = try decoder.next() { bodies.append(Array(body)) } } catch {
      world?.violate(.conversation, "a frame is broken: \(error)")
    }
    return bodies
  }

  private func decode<Message: Decodable>(_ type: Message.Type, _ body: [UInt8]) -> Message? {
    do { return try CBORDecoder().decode(type, from: body[...]) } catch {
      world?.violate(.conversation, "a message cannot be decoded: \(error)")
      return nil
    }
  }

  /// A service refuses a client because no hello has arrived. The refusal is wrong if the hello was sent early enough
  /// to arrive on a slow connection.
  private func hear(_ refusal: Refusal, on connection: Int) {
    guard let world, refusal.reason == .hello, let greeted = greetings[connection],
      world.clock.now.since(greeted) > Self.longestWay
    else { return }
    world.violate(.conversation, "a client was refused after its hello: \(refusal.detail)")
  }

  /// Upper bound of a message's time in flight.
  private static let longestWay = TimeSpan.milliseconds(2_500)

  private func hear(_ request: StockRequest, by process: SimulatedProcess, on connection: Int) {
    stock[connection, default: StockConnection()].requests[request.number] = request
    if case .follow(let place) = request.command {
      stock[connection]?.told[request.number] = .some(place?.sequence)
    }
    guard let world, let order = request.order else { return }
    if case .take = request.command, process !== world.vending.machine { world.stationAsks() }
    if process === world.vending.machine { world.machineAsks(request.command, as: order) }
    if process === world.coordinator?.process, case .giveBack = request.command {
      world.statistics.releases += 1
      let numbers = order.text.split(separator: "-").compactMap { Int64($0) }
      guard numbers.count == 2 else { return }
      world.checker.stock.asked(for: TicketOfDay(day: numbers[0], ticket: numbers[1]))
    }
  }

  private func hear(_ reply: StockReply, on connection: Int) {
    guard let world, let request = stock[connection]?.requests[reply.number] else {
      world?.violate(.conversation, "the stock responds to request \(reply.number), which was not sent")
      return
    }
    if let order = request.order { world.stockAnswers(order, reply.result) }
    // The coordinator may be killed before it receives the answer that fruit was returned.
    if case .giveBack = request.command, case .done = reply.result,
      request.order?.text.first?.isNumber == true
    {
      world.releaseIsAnswered()
    }
    guard let told = stock[connection]?.told[reply.number] else { return }
    switch reply.result {
    case .picture(let picture):
      world.checker.stock.shown(picture)
      stock[connection]?.told[reply.number] = .some(picture.sequence)
    case .changes(let changes):
      guard let last = changes.last else { return }
      for change in changes { world.checker.stock.told(change, seen: Int(change.sequence) - 1) }
      guard let told, changes.enumerated().allSatisfy({ $1.sequence == told + Int64($0) + 1 }) else {
        let words =
          "after change \(told.map { "\($0)" } ?? "none") arrived \(changes.map(\.sequence)) on one connection"
        return world.violate(.news, words)
      }
      stock[connection]?.told[reply.number] = .some(last.sequence)
    default: stock[connection]?.told[reply.number] = nil
    }
  }

  private func hear(_ request: VendingRequest, on connection: Int) {
    guard let world else { return }
    vending[connection, default: [:]][request.number] = (request, world.checker.vending.moment)
    guard let name = request.order, request.command.side == .manager else { return }
    world.checker.vending.hearsTheManager(name)
  }

  private func hear(_ reply: VendingReply, on connection: Int) {
    guard let (request, moment) = vending[connection]?[reply.number] else {
      world?.violate(.conversation, "the machine responds to request \(reply.number), which was not sent")
      return
    }
    world?.checker.vending.answered(request, askedAt: moment, reply.result)
  }
}
