// Work of a beanstalkd that corresponds to the bank's work: jobs are put one at a time, many at once, and served by
// workers with one job in flight.
import Glibc
import Posix
import Time

extension Bench {
  /// Payload of a job, and of a customer that is compared with it.
  static let payload = String(repeating: "x", count: 64)

  /// Rate of jobs. Each client puts a job and waits for the answer before it puts the next job.
  func putsPerSecond(of clients: Int, at server: BeanstalkServer) throws -> Double {
    let loop = try EventLoop()
    var crowd: [BeanstalkClient] = []
    var jobs = 0
    var failure: (any Error)?
    let payload = Array(Self.payload.utf8)
    for _ in 0..<clients {
      let client = try server.connect()
      crowd.append(client)
      _ = try loop.register(fd: client.fd, interest: .read) { [unowned client] _ in
        do {
          _ = try client.next()
          jobs += 1
          client.put(payload)
          try client.flush()
        } catch {
          failure = error
        }
      }
      client.put(payload)
      try client.flush()
    }
    return try perSecond({ jobs }) { end in
      try pollResponses(on: loop, until: end)
      if let failure { throw failure }
    }
  }

  /// Rate of `count` jobs that one client puts in groups.
  func bulkPerSecond(_ count: Int64, at server: BeanstalkServer) throws -> Double {
    let client = try server.connect()
    return try Self.perSecond(count) { try fill(count, client) }
  }

  /// Puts jobs in groups, and waits for the answers of each group.
  private func fill(_ count: Int64, _ client: BeanstalkClient) throws {
    let payload = Array(Self.payload.utf8)
    var left = count
    while left > 0 {
      let slice = min(left, 500)
      for _ in 0..<slice { client.put(payload) }
      try client.flush()
      for _ in 0..<slice { _ = try client.next() }
      left -= slice
    }
  }

  /// Rate at which workers serve jobs that were put before. The clock stops when no job is left.
  func jobsPerSecond(_ count: Int64, workers: Int, at server: BeanstalkServer) throws -> Double {
    try fill(count, try server.connect())
    let workerProcesses = try BeanstalkWorkers(
      workers, of: server, program: Paths.join(programs, "bank-bench"))
    return try Self.perSecond(count) { try workerProcesses.work() }
  }
}
