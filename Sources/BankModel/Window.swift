// Owns the windows of a branch and the tellers that come and go behind them. What a window is called a directory knows.
// It knows no process: a generation tells one teller at a window from its successor.

/// A window of the branch: a service and a place.
public struct Window: Hashable, Sendable, Comparable {
  /// What is served here.
  public let service: Service
  /// The place among the windows of this service, from 1.
  public let place: Int32

  public init(service: Service, place: Int32) { (self.service, self.place) = (service, place) }

  /// The place of a worker that has come by itself and stands at no window of the branch; each has one for every service that
  /// it offers.
  ///
  /// - Parameter number: from 1, among the workers that are there.
  public static func outside(_ service: Service, number: Int32) -> Window {
    Window(service: service, place: Int32(Limits.windowsPerService) + number)
  }

  /// Stands for a window of which nobody knows any more which it was.
  public static func unknown(_ service: Service) -> Window { Window(service: service, place: 0) }

  /// Whether it is one.
  public var isUnknown: Bool { place == 0 }

  /// The number of the worker, where this is no window of the branch; nil at a window.
  public var outsideNumber: Int32? {
    Int64(place) > Limits.windowsPerService ? place - Int32(Limits.windowsPerService) : nil
  }

  /// Whether this is no window of the branch, but the place of a worker that has come by itself.
  public var isOutside: Bool { Int64(place) > Limits.windowsPerService }

  /// The order in which these are listed.
  public static func < (left: Window, right: Window) -> Bool {
    left.service == right.service ? left.place < right.place : left.service < right.service
  }
}

/// Counts the tellers at one window: the first is 1, its successor 2. A late word of a dead generation is harmless.
public typealias Generation = Int32

/// The right to serve one customer once: customer, attempt, and the teller's generation.
public struct Lease: Hashable, Codable, Sendable {
  /// The customer's number.
  public var ticket: TicketNumber
  /// 1 for the first attempt at this customer, 2 for the next.
  public var attempt: Int32
  /// The teller that holds the lease.
  public var generation: Generation

  public init(ticket: TicketNumber, attempt: Int32, generation: Generation) {
    (self.ticket, self.attempt, self.generation) = (ticket, attempt, generation)
  }

  enum CodingKeys: Int, CodingKey { case ticket = 1, attempt, generation }
}

/// How a process ended.
public enum ProcessEnd: Hashable, Sendable {
  /// It ended by itself with this code.
  case code(Int32)
  case signal(Int32)

  /// One of two numbers, as rows and messages have it; nil where there is neither.
  public init?(code: Int32?, signal: Int32?) {
    if let signal { self = .signal(signal) } else if let code { self = .code(code) } else { return nil }
  }

  /// The code; nil for a signal.
  public var exitCode: Int32? { if case .code(let code) = self { code } else { nil } }
  /// The signal; nil for a code.
  public var exitSignal: Int32? { if case .signal(let signal) = self { signal } else { nil } }
}

/// What a process of the branch is for.
public enum WorkerRole: UInt8, Named {
  case teller = 1
  case juice = 2
  case stock = 3
  case vending = 4
  case runner = 5
  case worker = 6
  /// A worker that has come by itself.
  case outside = 7
  /// The server of the page.
  case web = 8

  /// The names in JSON, in the order of the numbers.
  public static let names = ["teller", "juice", "stock", "vending", "runner", "worker", "outside", "web"]
}

/// What a worker is doing.
public enum WorkerState: UInt8, Named {
  /// Started, and has not reported ready.
  case starting = 1
  /// Ready, with nobody to serve.
  case idle = 2
  case serving = 3
  /// Ended; its successor starts after a pause.
  case backoff = 4
  case stopped = 5

  /// The names in JSON, in the order of the numbers.
  public static let names = ["starting", "idle", "serving", "backoff", "stopped"]
}

/// What the branch as a whole is doing.
public enum BankState: UInt8, Named {
  /// Takes customers and serves them.
  case open = 1
  /// Takes customers; every service is paused.
  case paused = 2
  /// Takes no new customers and serves those that wait.
  case draining = 3
  /// Serves nobody.
  case closed = 4

  /// The names in JSON, in the order of the numbers.
  public static let names = ["open", "paused", "draining", "closed"]
}

/// How one branch of a shared bank stands, by the database's clock.
public enum BranchState: UInt8, Named {
  /// Its lease holds.
  case open = 1
  /// Its lease has run out without its having closed: it has died, or cannot reach the database.
  case expired = 2
  /// It was closed in good order.
  case closed = 3

  /// The names in JSON, in the order of the numbers.
  public static let names = ["open", "expired", "closed"]
}
