// Tally of customers by service.
// Removing a customer of a service whose count is 0 changes nothing.

import BankModel

struct CountsByService: Sendable, Equatable {
  /// Counts by the index of the service; services beyond the end have 0.
  private(set) var counts: [Int64] = []

  /// Number of counted customers of a service; 0 if none was counted.
  subscript(service: Service) -> Int64 { service.index < counts.count ? counts[service.index] : 0 }

  mutating func add(_ count: Int64 = 1, of service: Service) {
    while counts.count <= service.index { counts.append(0) }
    counts[service.index] += count
  }

  mutating func add(_ others: CountsByService) {
    for (index, count) in others.counts.enumerated() where count > 0 { add(count, of: Service(index: index)) }
  }

  /// Subtracts one customer of a service, unless its count is 0.
  mutating func remove(of service: Service) {
    if self[service] > 0 { counts[service.index] -= 1 }
  }
}
