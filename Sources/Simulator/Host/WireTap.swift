// Wire tap of the connections to the services, and of the coordinator's answers: reads each request, answer and update
// when it is written, before any process can read it. Subscribers must be sent every change in order, on each
// connection. This is checked here because clients would detect a gap and subscribe again.
import BankModel
import QueueCore
import Time
import Wire

/// Decodes what is written to the connections of services and clients, and passes it to the checker.
final class WireTap {
  /// The requests on one connection to the stock, and what its subscriptions have received.
  private struct StockConnection {
    var requests: [UInt32: StockRequest] = [:]
    /// Number of the last change that each subscription has received, before or on this connection; nil for none.
    var sent: [UInt32: Int64?] = [:]
  }

  weak var world: Simulation?
  private var decoders: [Int: FrameDecoder] = [:]
  private var stock: [Int: StockConnection] = [:]
  /// Requests to the machine by connection, each with the state of its disk when the request was sent.
  private var vending: [Int: [UInt32: (request: VendingRequest, moment: Int)]] = [:]
  /// Time of the hello on each connection.
  private var greetings: [Int: MonotonicTime] = [:]
  private var boards = BoardChecker()

  /// Decodes bytes that a process has written to a connection, and passes the messages to the checker.
  func handle(_ bytes: [UInt8], by process: SimulatedProcess, on end: StreamEnd) {
    guard let world, let peer = end.peer, !world.isExternalWorkerConnection(end),
      !world.isExternalWorkerConnection(peer)
    else { return }
    let server = end.isServerSide ? end : peer
    let connection = server.number
    if !server.isServerSide { return readSupervisorMessage(bytes, of: end, by: process) }
    switch server.creator {
    case world.coordinator?.process.pid where end.isServerSide:
      for body in bodies(of: bytes, on: end) {
        guard case .reply(let reply) = decode(BankMessage.self, body) else { continue }
        switch reply.answer {
        case .enqueued(let report) where report.count > 0:
          world.checker.ticketsAnnounced(
            IssuedTickets(day: report.day, first: report.first, last: report.last))
        case .audit(let report): handle(report, in: world)
        case .board(let frame):
          guard
            let message = boards.objection(
              to: frame, connection, reply.number, by: world.checker, at: process.clock,
              process.wall)
          else { continue }
          world.violate(.board, message)
        default: break
        }
      }
    case world.stockState.service?.pid:
      handle(bytes, on: end, connection) { (request: StockRequest) in
        handle(request, by: process, on: connection)
      } replies: { (reply: StockReply) in
        handle(reply, on: connection)
      }
    case world.vending.machine?.pid:
      handle(bytes, on: end, connection) { (request: VendingRequest) in
        handle(request, on: connection)
      } replies: { (reply: VendingReply) in
        handle(reply, on: connection)
      }
    default: break
    }
  }

  /// Passes the requests and replies in these bytes of a service's connection to the closures.
  private func handle<Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable>(
    _ bytes: [UInt8], on end: StreamEnd, _ connection: Int, requests: (Request) -> Void,
    replies: (NumberedReply<Result>) -> Void
  ) {
    for body in bodies(of: bytes, on: end) {
      if end.isServerSide {
        switch decode(ServiceServerMessage<Result>.self, body) {
        case .reply(let reply): replies(reply)
        case .refused(let refusal): handle(refusal, on: connection)
        default: break
        }
      } else {
        switch decode(ServiceClientMessage<Request>.self, body) {
        case .request(let request): requests(request)
        case .hello: greetings[connection] = world?.clock.now
        default: break
        }
      }
    }
  }

  /// Checks an audit, which must not find a problem. A service that could not be audited is allowed, unless it did not
  /// answer because the bank had already stopped its services.
  private func handle(_ report: AuditReport, in world: Simulation) {
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
  private func readSupervisorMessage(_ bytes: [UInt8], of end: StreamEnd, by process: SimulatedProcess) {
    guard let world, process === world.coordinator?.process else { return }
    for service in [world.stockState.service, world.vending.machine].compactMap(\.self) {
      guard case .stream(let stream)? = service.descriptors[3], stream === end.peer else { continue }
      for body in bodies(of: bytes, on: end) {
        switch decode(SupervisorMessage.self, body) {
        case .close: world.killableServices.insert(service.pid)
        // The service may be killed right after its answer to the check, which then arrives after its
        // exit.
        case .check: world.serviceProbed(service)
        default: break
        }
      }
    }
  }

  /// Returns the bodies of the frames that these bytes of a connection complete.
  private func bodies(of bytes: [UInt8], on end: StreamEnd) -> [[UInt8]] {
    let wire = end.number
    var decoder = decoders[wire] ?? FrameDecoder(maximumBodyLength: FrameLimits.control)
    defer { decoders[wire] = decoder }
    decoder.append(bytes)
    var bodies: [[UInt8]] = []
    do { while let body = try decoder.next() { bodies.append(Array(body)) } } catch {
      world?.violate(.protocolViolation, "a frame is broken: \(error)")
    }
    return bodies
  }

  /// Decodes a message; a message that cannot be decoded is a violation.
  private func decode<Message: Decodable>(_ type: Message.Type, _ body: [UInt8]) -> Message? {
    do { return try CBORDecoder().decode(type, from: body[...]) } catch {
      world?.violate(.protocolViolation, "a message cannot be decoded: \(error)")
      return nil
    }
  }

  /// Checks the refusal of a client from which no hello has arrived. It is wrong if the hello was sent early enough to
  /// arrive on a slow connection.
  private func handle(_ refusal: Refusal, on connection: Int) {
    guard let world, refusal.reason == .hello, let greeted = greetings[connection],
      world.clock.now.since(greeted) > Self.maxTransitTime
    else { return }
    world.violate(.protocolViolation, "a client was refused after its hello: \(refusal.detail)")
  }

  /// Upper bound of a message's time in flight.
  private static let maxTransitTime = TimeSpan.milliseconds(2_500)

  /// Records a request to the stock, and notifies the checker of it.
  private func handle(_ request: StockRequest, by process: SimulatedProcess, on connection: Int) {
    stock[connection, default: StockConnection()].requests[request.number] = request
    if case .follow(let place) = request.command {
      stock[connection]?.sent[request.number] = .some(place?.sequence)
    }
    guard let world, let order = request.order else { return }
    if case .take = request.command, process !== world.vending.machine { world.stationRequestsFruit() }
    if process === world.vending.machine { world.machineRequestsStock(request.command, as: order) }
    if process === world.coordinator?.process, case .returnItems = request.command {
      world.statistics.releases += 1
      let numbers = order.text.split(separator: "-").compactMap { Int64($0) }
      guard numbers.count == 2 else { return }
      world.checker.stock.asked(for: TicketOfDay(day: numbers[0], ticket: numbers[1]))
    }
  }

  /// Checks an answer of the stock, or an update for a subscriber.
  private func handle(_ reply: StockReply, on connection: Int) {
    guard let world, let request = stock[connection]?.requests[reply.number] else {
      world?.violate(.protocolViolation, "the stock responds to request \(reply.number), which was not sent")
      return
    }
    if let order = request.order { world.stockAnswered(order, reply.result) }
    // The coordinator may be killed before it receives the answer that fruit was returned.
    if case .returnItems = request.command, case .done = reply.result,
      request.order?.text.first?.isNumber == true
    {
      world.releaseAnswered()
    }
    guard let sent = stock[connection]?.sent[reply.number] else { return }
    switch reply.result {
    case .snapshot(let picture):
      world.checker.stock.shown(picture)
      stock[connection]?.sent[reply.number] = .some(picture.sequence)
    case .changes(let changes):
      guard let last = changes.last else { return }
      for change in changes { world.checker.stock.sent(change, seen: Int(change.sequence) - 1) }
      guard let sent, changes.enumerated().allSatisfy({ $1.sequence == sent + Int64($0) + 1 }) else {
        let message =
          "after change \(sent.map { "\($0)" } ?? "none") arrived \(changes.map(\.sequence)) on one connection"
        return world.violate(.news, message)
      }
      stock[connection]?.sent[reply.number] = .some(last.sequence)
    default: stock[connection]?.sent[reply.number] = nil
    }
  }

  /// Records a request to the vending machine.
  private func handle(_ request: VendingRequest, on connection: Int) {
    guard let world else { return }
    vending[connection, default: [:]][request.number] = (request, world.checker.vending.moment)
    guard let name = request.order, request.command.side == .manager else { return }
    world.checker.vending.managerRequestArrived(name)
  }

  /// Passes an answer of the vending machine to the checker.
  private func handle(_ reply: VendingReply, on connection: Int) {
    guard let (request, moment) = vending[connection]?[reply.number] else {
      world?.violate(
        .protocolViolation, "the machine responds to request \(reply.number), which was not sent")
      return
    }
    world?.checker.vending.answered(request, askedAt: moment, reply.result)
  }
}
