// Turns among the services of outside workers: the highest priority first over all services, and no service
// starves beside another of the same priority.

import BankModel
@testable import QueueCore
import Testing
import Time

@Suite("Turns among the services of one worker") struct QueueFairnessTests {
  private static let services = (4...8).map { Service(number: $0) }

  private func branch() -> TestBranch {
    var policy = QueuePolicy()
    policy.prefetch = Limits.customersPerWorker
    return TestBranch(policy: policy)
  }

  private func orders(_ service: Service, _ priority: UInt32, _ count: Int = 1) -> [CustomerOrder] {
    Array(
      repeating: CustomerOrder(service: service, priority: Priority(priority), amount: 0, account: 0),
      count: count)
  }

  @discardableResult
  private func arrive(_ orders: [CustomerOrder], at branch: TestBranch) -> [QueueEffect] {
    branch.process(.enqueue(branch.request(), orders: orders, total: Int64(orders.count), isLast: true))
      + branch.process(.committed)
  }

  /// One worker serves all customers, one after the other; returns the services in the order of their
  /// customers.
  private func serveAll(_ services: [Service], at branch: TestBranch) -> [Service] {
    var effects = branch.process(.workerConnected(services, number: 1, 77, pid: 9, inFlight: 1))
    var served: [Service] = []
    while let (window, lease) = effects.leases.first {
      served.append(window.service)
      effects = branch.process(.tellerAnswered(window, 77, lease, .done)) + branch.process(.committed)
    }
    return served
  }

  @Test("an urgent customer of the second service comes before all others of the first")
  func urgentFirst() {
    let branch = branch()
    let (x, y) = (Self.services[0], Self.services[1])
    arrive(orders(x, 4_000_000_000, 50) + orders(y, 0), at: branch)
    #expect(serveAll([y, x], at: branch) == [y] + Array(repeating: x, count: 50))
  }

  @Test("services with the same priority take turns")
  func turns() {
    let branch = branch()
    let (x, y, z) = (Self.services[0], Self.services[1], Self.services[2])
    arrive(orders(x, 7, 4) + orders(y, 7, 4) + orders(z, 7, 2), at: branch)
    #expect(serveAll([x, y, z], at: branch) == [x, y, z, x, y, z, x, y, x, y])
  }

  @Test("a paused service does not hold up another one")
  func paused() {
    let branch = branch()
    let (x, y) = (Self.services[0], Self.services[1])
    arrive(orders(x, 0, 2) + orders(y, 7), at: branch)
    branch.process(.pause(branch.request(), x))
    branch.process(.committed)
    #expect(serveAll([x, y], at: branch) == [y])
  }

  @Test(
    "no lower priority comes first, and no service is passed over twice by one other",
    arguments: 1...60)
  func histories(seed: Int) {
    let branch = branch()
    var chance = SeededGenerator(seed: UInt64(seed))
    var waiting: [Service: [UInt32]] = [:]
    var passedOver: [Service: Set<Service>] = [:]
    var offers: [Generation: [Service]] = [:]
    var inFlight: [(window: Window, lease: Lease)] = []
    for number in 1...Int32(chance.draw(1...3)) {
      let offer = Self.services.filter { _ in chance.draw(0...2) > 0 }
      guard !offer.isEmpty else { continue }
      offers[70 + number] = offer
      branch.process(
        .workerConnected(offer, number: number, 70 + number, pid: number, inFlight: Int(chance.draw(1...3))))
    }
    func note(_ effects: [QueueEffect]) {
      for case .assign(let window, let lease, let customer) in effects {
        let (service, priority) = (customer.service, customer.priority.number)
        #expect(waiting[service]?.min() == priority)
        let place = waiting[service]?.firstIndex(of: priority)
        if let place { waiting[service]?.remove(at: place) }
        for other in offers[lease.generation]! where other != service {
          guard let head = waiting[other]?.min() else { continue }
          #expect(head >= priority, "\(other) with \(head) waits behind \(service) with \(priority)")
          if head == priority { #expect(passedOver[other, default: []].insert(service).inserted) }
        }
        passedOver[service] = []
        inFlight.append((window, lease))
      }
    }
    for _ in 0..<120 {
      if chance.draw(0...2) == 0 || inFlight.isEmpty {
        var came: [CustomerOrder] = []
        for _ in 0..<chance.draw(1...6) {
          let service = Self.services[Int(chance.draw(0...4))]
          came += orders(service, UInt32(chance.draw(5...6)))
        }
        for order in came { waiting[order.service, default: []].append(order.priority.number) }
        note(arrive(came, at: branch))
      } else {
        let (window, lease) = inFlight.remove(at: Int(chance.draw(0...Int64(inFlight.count - 1))))
        note(branch.process(.tellerAnswered(window, lease.generation, lease, .done)))
        note(branch.process(.committed))
      }
    }
  }
}
