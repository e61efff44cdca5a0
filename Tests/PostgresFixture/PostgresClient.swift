// One connection and a loop for it, for a test that asks and waits. Events of the connection are recorded in
// order. Failure: a condition that does not hold within two minutes fails the test.
import Glibc
import Posix
import Postgres
import Testing
import Time

public final class PostgresClient: PostgresHandler {
  public let loop: EventLoop
  public let connection: PostgresConnection
  public private(set) var server: PostgresServer?
  public private(set) var losses: [PostgresError] = []
  public private(set) var notifications: [String] = []

  /// - Parameter loop: one that several clients share; otherwise one of its own.
  public convenience init(
    _ address: String, limits: PostgresConnection.Limits = .patient, loop: EventLoop? = nil
  ) throws {
    try self.init(to: PostgresURL(address, schemas: ["public"]), limits: limits, loop: loop)
  }

  public init(
    to url: PostgresURL, limits: PostgresConnection.Limits = .patient, loop: EventLoop? = nil
  ) throws {
    self.loop = try loop ?? EventLoop()
    connection = PostgresConnection(to: url, loop: self.loop, limits: limits)
    connection.handler = self
  }

  /// A client whose connection is ready.
  public static func connected(
    _ address: String, limits: PostgresConnection.Limits = .patient, loop: EventLoop? = nil
  ) throws -> PostgresClient {
    try connected(to: PostgresURL(address, schemas: ["public"]), limits: limits, loop: loop)
  }

  public static func connected(
    to url: PostgresURL, limits: PostgresConnection.Limits = .patient, loop: EventLoop? = nil
  ) throws -> PostgresClient {
    let client = try PostgresClient(to: url, limits: limits, loop: loop)
    try client.runLoop { client.server != nil || !client.losses.isEmpty }
    if let loss = client.losses.first { throw loss }
    return client
  }

  public func connected(_ connection: PostgresConnection, to server: PostgresServer) { self.server = server }
  public func lost(_ connection: PostgresConnection, _ error: PostgresError) { losses.append(error) }
  public func notified(_ connection: PostgresConnection, channel: String, payload: String) {
    notifications.append("\(channel) \(payload)")
  }

  /// Runs the loop until a condition holds.
  public func runLoop(until condition: () throws -> Bool) throws {
    let end = SystemClock.monotonic() + .seconds(120)
    while try !condition() {
      try #require(SystemClock.monotonic() < end, "the condition does not hold in time")
      let soon = SystemClock.monotonic() + .milliseconds(10)
      try loop.runOnce(until: .earliest(connection.nextDeadline, soon))
      connection.finishIteration()
    }
  }

  /// Sends a segment and waits for its outcome.
  public func ask(_ segment: [PostgresCall]) throws -> PostgresOutcome {
    var told: PostgresOutcome?
    try connection.send(segment) { told = $0 }
    try runLoop { told != nil }
    return try #require(told)
  }

  /// Sends a segment and waits for its rows.
  @discardableResult
  public func rows(_ segment: PostgresCall...) throws -> [PostgresRows] {
    switch try ask(segment) {
    case .done(let rows): return rows
    case .refused(let error), .unknown(let error): throw error
    }
  }

  /// Sends statements, one segment each, and waits for the last.
  public func run(_ texts: String...) throws {
    for text in texts { try rows(.once(text)) }
  }
}

extension PostgresConnection.Limits {
  /// Limits of a test that waits for a certain event, on any machine.
  public static var patient: Self {
    var limits = Self()
    limits.timeout = .seconds(120)
    return limits
  }
}
