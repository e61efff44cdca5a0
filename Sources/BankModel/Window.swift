// Windows of a bank and the tellers that serve at them.
// A `ServiceDirectory` returns the name of a window.

/// A window of the bank: its service, and its number among the windows of this service.
public struct Window: Hashable, Sendable, Comparable {
  /// Service of this window.
  public let service: Service
  /// Number among the windows of this service, from 1.
  public let place: Int32

  public init(service: Service, place: Int32) { (self.service, self.place) = (service, place) }

  /// Slot of an outside worker for one of its services.
  ///
  /// - Parameter number: number of the worker, from 1.
  public static func outside(_ service: Service, number: Int32) -> Window {
    Window(service: service, place: Int32(Limits.windowsPerService) + number)
  }

  /// Placeholder for the window of an attempt, if it is not known any more.
  public static func unknown(_ service: Service) -> Window { Window(service: service, place: 0) }

  /// True for the placeholder ``unknown(_:)``.
  public var isUnknown: Bool { place == 0 }

  /// Number of the outside worker of this slot; nil for a window of the bank.
  public var outsideNumber: Int32? {
    Int64(place) > Limits.windowsPerService ? place - Int32(Limits.windowsPerService) : nil
  }

  /// True for the slot of an outside worker.
  public var isOutside: Bool { Int64(place) > Limits.windowsPerService }

  /// Ordered by service, then by place.
  public static func < (left: Window, right: Window) -> Bool {
    left.service == right.service ? left.place < right.place : left.service < right.service
  }
}

/// Counter of the tellers at one window, from 1. For an outside worker, a number that
/// identifies its connection. With it, a late message of an earlier teller is recognized.
public typealias Generation = Int32

/// Right to serve one customer once.
public struct Lease: Hashable, Codable, Sendable {
  /// Ticket number of the customer.
  public var ticket: TicketNumber
  /// Number of the attempt, from 1.
  public var attempt: Int32
  /// Generation of the teller that holds the lease.
  public var generation: Generation

  public init(ticket: TicketNumber, attempt: Int32, generation: Generation) {
    (self.ticket, self.attempt, self.generation) = (ticket, attempt, generation)
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey { case ticket = 1, attempt, generation }
}

/// How a process ended: its exit code, or the signal that ended it.
public enum ProcessEnd: Hashable, Sendable {
  /// The process exited by itself, with this code.
  case code(Int32)
  /// The process was ended by this signal.
  case signal(Int32)

  /// Makes an exit from a code or a signal; nil if both are absent.
  public init?(code: Int32?, signal: Int32?) {
    if let signal { self = .signal(signal) } else if let code { self = .code(code) } else { return nil }
  }

  /// Exit code; nil for a signal.
  public var exitCode: Int32? { if case .code(let code) = self { code } else { nil } }
  /// Signal number; nil for an exit code.
  public var exitSignal: Int32? { if case .signal(let signal) = self { signal } else { nil } }
}

/// Role of a process of the bank, or of an outside worker.
public enum WorkerRole: UInt8, NameCodable {
  case teller = 1
  case juice = 2
  case stock = 3
  case vending = 4
  case runner = 5
  /// A program of the configuration, which the bank starts.
  case worker = 6
  /// A worker that connects from outside.
  case outside = 7
  /// The web server.
  case web = 8

  /// Names in JSON, in the order of the raw values.
  public static let names = ["teller", "juice", "stock", "vending", "runner", "worker", "outside", "web"]
}

/// State of a worker.
public enum WorkerState: UInt8, NameCodable {
  /// Started, and not ready yet.
  case starting = 1
  /// Ready, without a customer.
  case idle = 2
  /// Has a customer.
  case serving = 3
  /// Exited; its successor starts after a pause.
  case backoff = 4
  case stopped = 5

  /// Names in JSON, in the order of the raw values.
  public static let names = ["starting", "idle", "serving", "backoff", "stopped"]
}

/// State of the whole bank.
public enum BankState: UInt8, NameCodable {
  /// Accepts and serves customers.
  case open = 1
  /// Accepts customers; every service is paused.
  case paused = 2
  /// Accepts no new customers and serves the waiting ones.
  case draining = 3
  /// Serves no customers.
  case closed = 4

  /// Names in JSON, in the order of the raw values.
  public static let names = ["open", "paused", "draining", "closed"]
}

/// State of one branch of a shared bank, by the database's clock.
public enum BranchState: UInt8, NameCodable {
  /// The lease of the branch is valid.
  case open = 1
  /// The lease has run out, and the branch did not close.
  case expired = 2
  /// Closed cleanly.
  case closed = 3

  /// Names in JSON, in the order of the raw values.
  public static let names = ["open", "expired", "closed"]
}
