// Segments in flight on one connection in pipeline mode, in order, with their results so far. A segment is one
// transaction: everything between two syncs.
//
// Invariant: an accepted segment gets its outcome once, in sending order, unless the owner is released before that.
// `done` means that the server has reported the end of the segment without an error, and thereby its commit, unless
// the caller has opened a transaction with BEGIN. `refused` means that the server has reported an ERROR before any
// commit. If neither was received before the end of the connection, the outcome is `unknown`. A FATAL gives `unknown`
// as well, because it may follow a commit.
// Errors: `drain` and `send` return an error of the whole connection; the owner then calls `abandon`.
import CPostgres
import Time

/// Outcome of a segment, which is one or more statements sent as one transaction.
public enum PostgresOutcome: Sendable {
  /// Committed, or done within a transaction that the caller has opened with BEGIN. Contains the rows of each call.
  case done([PostgresRows])
  /// The segment had no effect.
  case refused(PostgresError)
  /// The connection ended before the outcome was known. The segment is committed, or it has no effect.
  case unknown(PostgresError)
}

/// Sent segments of a connection, and their results so far. A segment is one or more statements sent as one
/// transaction.
final class PostgresPipeline {
  /// A sent segment: calls of a caller, or the preparation of one statement, for whose outcome no caller waits.
  private struct SentSegment {
    /// Number of unfinished calls.
    var callsLeft: Int
    /// Rows of the finished calls.
    var results: [PostgresRows] = []
    /// Rows of the present call, so far.
    var current = PostgresRows()
    /// Approximate size of all results so far, in bytes.
    var size = 0
    /// The first error that the server has reported for the segment.
    var refusal: PostgresError.Reason?
    var sentAt: MonotonicTime
    /// Approximate size of the sent calls, in bytes.
    var bytes: Int
    /// The statement that the segment prepares; empty for a segment of a caller.
    var prepares: [PostgresStatement] = []
    /// Statements that the segment calls.
    var calls: [PostgresStatement] = []
    var finish: ((PostgresOutcome) -> Void)?
  }

  /// Number of segments in flight that a caller waits for.
  private(set) var count = 0
  /// Bytes of the segments in flight.
  private(set) var bytes = 0
  private let library: OpaquePointer
  private let url: String
  /// Maximum size of the results of one segment, in bytes.
  private let resultLimit: Int
  private var inFlight: [SentSegment] = []
  /// Statements that are prepared or being prepared on this connection, by name.
  private var prepared: [String: PostgresStatement] = [:]
  /// Errors of statements that could not be prepared. They are reported to the segments that called the statements.
  private var unprepared: [String: PostgresError.Reason] = [:]
  /// True if single-row mode was requested for the next command.
  private var isArmed = false
  /// True after ``abandon(_:)``.
  private var isOver = false

  init(_ library: OpaquePointer, url: String, resultLimit: Int) {
    (self.library, self.url, self.resultLimit) = (library, url, resultLimit)
  }

  /// Sending time of the oldest unfinished segment.
  var oldest: MonotonicTime? { inFlight.first?.sentAt }

  // MARK: - Sending

  /// Approximate size of a segment in flight, in bytes.
  static func size(of segment: [PostgresCall]) -> Int {
    segment.reduce(64) { sum, call in
      sum + call.statement.text.utf8.count + call.values.reduce(64) { $0 + $1.size }
    }
  }

  /// Sends a segment; returns an error of the connection, or nil. Every segment is accepted and gets its outcome, even
  /// if sending fails.
  func send(
    _ segment: [PostgresCall], size: Int, at now: MonotonicTime, _ finish: @escaping (PostgresOutcome) -> Void
  ) -> PostgresError.Reason? {
    var failure = prepare(segment, at: now)
    var flight = SentSegment(callsLeft: segment.count, sentAt: now, bytes: size)
    flight.calls = segment.map(\.statement)
    flight.finish = finish
    inFlight.append(flight)
    count += 1
    bytes += size
    for call in segment where failure == nil { failure = send(call) }
    return failure ?? sync()
  }

  /// Prepares new statements before the segment, because after an error the server skips the rest of a segment. Returns
  /// an error of the connection, or nil.
  private func prepare(_ segment: [PostgresCall], at now: MonotonicTime) -> PostgresError.Reason? {
    var new: [PostgresStatement] = []
    for call in segment where call.isPrepared {
      if let known = prepared[call.statement.name] {
        precondition(known == call.statement, "\(known.name) is the name of two statements")
        continue
      }
      prepared[call.statement.name] = call.statement
      unprepared[call.statement.name] = nil
      new.append(call.statement)
    }
    // Each statement is prepared in a segment of its own, so that a refused one does not affect the others.
    for statement in new {
      inFlight.append(SentSegment(callsLeft: 1, sentAt: now, bytes: 0, prepares: [statement]))
      let types = statement.parameters.map(\.rawValue)
      guard
        PQsendPrepare(library, statement.name, statement.text, CInt(truncatingIfNeeded: types.count), types)
          == 1
      else { return libraryError }
      if let failure = sync() { return failure }
    }
    return nil
  }

  /// Sends one call of a segment, without the sync that ends the segment. Returns an error of the connection, or nil.
  private func send(_ call: PostgresCall) -> PostgresError.Reason? {
    let parameters = PostgresParameters(call.values)
    let count = CInt(truncatingIfNeeded: parameters.cells.count)
    let formats = [CInt](repeating: 1, count: parameters.cells.count)
    let lengths = parameters.cells.map { CInt(truncatingIfNeeded: max(0, $0.length)) }
    let isSent = parameters.bytes.withUnsafeBufferPointer { buffer in
      // An empty value is not NULL, so it needs a non-null pointer.
      let base = UnsafeRawPointer(buffer.baseAddress ?? UnsafePointer(Self.nowhere))
        .assumingMemoryBound(to: CChar.self)
      let values = parameters.cells.map { $0.length < 0 ? nil : base + $0.start }
      if call.isPrepared {
        return PQsendQueryPrepared(library, call.statement.name, count, values, lengths, formats, 1)
      }
      let types = call.statement.parameters.map(\.rawValue)
      return PQsendQueryParams(library, call.statement.text, count, types, values, lengths, formats, 1)
    }
    return isSent == 1 ? nil : libraryError
  }

  /// Valid address for the values of a call whose parameters are all empty.
  nonisolated(unsafe) private static let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

  /// Ends the segment that is being sent. Returns an error of the connection, or nil.
  private func sync() -> PostgresError.Reason? { PQpipelineSync(library) == 1 ? nil : libraryError }

  /// The last error of the library, as the loss of the connection.
  private var libraryError: PostgresError.Reason {
    .lost(PostgresError.oneLine(String(cString: PQerrorMessage(library))))
  }

  // MARK: - Receiving

  /// Reports the outcomes that the received data determines. Returns an error of the connection, or nil.
  func drain() -> PostgresError.Reason? {
    // Consecutive null results of the library; the first one ends a command.
    var nothings = 0
    while !isOver, !inFlight.isEmpty {
      if !isArmed {
        isArmed = true
        _ = PQsetSingleRowMode(library)
      }
      guard PQisBusy(library) == 0 else { return nil }
      guard let result = PQgetResult(library) else {
        nothings += 1
        guard nothings < 2 else { return postgres_is_bad(library) != 0 ? libraryError : nil }
        isArmed = false
        endCall()
        continue
      }
      nothings = 0
      let failure = process(result)
      PQclear(result)
      if let failure { return failure }
    }
    return nil
  }

  /// Handles one result of the library: rows, the end of a command, an error, or a sync. Returns an error that ends the
  /// connection, or nil.
  private func process(_ result: OpaquePointer) -> PostgresError.Reason? {
    switch UInt32(postgres_kind_of(result)) {
    case POSTGRES_ROW.rawValue, POSTGRES_END.rawValue:
      let before = inFlight[0].current.size
      inFlight[0].current.append(result)
      inFlight[0].size += inFlight[0].current.size - before
      guard inFlight[0].size <= resultLimit else { return .tooLarge(limit: resultLimit) }
      if let cString = PQcmdTuples(result), cString.pointee != 0 {
        inFlight[0].current.affected = Int64(String(cString: cString)) ?? 0
      }
    case POSTGRES_FAILED.rawValue: return fail(result)
    case POSTGRES_LEFT_OUT.rawValue: break
    case POSTGRES_SYNC.rawValue:
      isArmed = false
      finishSegment()
    default: return .unexpectedReply(String(cString: PQresStatus(PQresultStatus(result))))
    }
    return nil
  }

  /// Records a refusal of the oldest segment, or returns the error that ends the connection.
  private func fail(_ result: OpaquePointer) -> PostgresError.Reason? {
    /// The text of a C string; empty for a null pointer.
    func text(_ cString: UnsafePointer<CChar>?) -> String { cString.map { String(cString: $0) } ?? "" }
    let state = text(postgres_state_of(result))
    let message = [text(postgres_message_of(result)), text(postgres_detail_of(result))]
      .filter { !$0.isEmpty }.joined(separator: "; ")
    // A FATAL may follow a commit. An error without SQLSTATE comes from the library and means a lost connection.
    guard text(postgres_severity_of(result)) == "ERROR", !state.isEmpty else {
      return .lost(message.isEmpty ? text(PQresultErrorMessage(result)) : "\(message) (SQLSTATE \(state))")
    }
    if inFlight[0].refusal == nil { inFlight[0].refusal = .refused(state: state, message: message) }
    return nil
  }

  /// Notes that the results of one command are complete.
  private func endCall() {
    guard inFlight[0].callsLeft > 0 else { return }
    inFlight[0].callsLeft -= 1
    inFlight[0].results.append(inFlight[0].current)
    inFlight[0].current = PostgresRows()
  }

  /// Removes the oldest segment, whose sync the server has answered, and reports its outcome.
  private func finishSegment() {
    let flight = inFlight.removeFirst()
    if let statement = flight.prepares.first {
      if let refusal = flight.refusal {
        prepared[statement.name] = nil
        unprepared[statement.name] = refusal
      }
      return
    }
    count -= 1
    bytes -= flight.bytes
    if let refusal = flight.refusal {
      flight.finish?(.refused(PostgresError(cause(of: refusal, in: flight), at: url)))
    } else {
      flight.finish?(.done(flight.results))
    }
  }

  /// Reason to report for a refused segment. Calling a statement that could not be prepared fails with 26000, so the
  /// error of the preparation is reported instead.
  private func cause(of refusal: PostgresError.Reason, in flight: SentSegment) -> PostgresError.Reason {
    guard case .refused("26000", _) = refusal else { return refusal }
    return flight.calls.lazy.compactMap { self.unprepared[$0.name] }.first ?? refusal
  }

  /// Ends the pipeline of an ended connection. Segments in flight are reported as unknown, or as refused if the server
  /// has refused them.
  func abandon(_ error: PostgresError) {
    guard !isOver else { return }
    isOver = true
    let left = inFlight
    inFlight = []
    (count, bytes) = (0, 0)
    for flight in left {
      if let refusal = flight.refusal {
        flight.finish?(.refused(PostgresError(cause(of: refusal, in: flight), at: url)))
      } else {
        flight.finish?(.unknown(error))
      }
    }
  }
}

extension PostgresValue {
  /// Approximate encoded size, in bytes.
  fileprivate var size: Int {
    switch self {
    case .null, .boolean, .integer: 8
    case .text(let text): text.utf8.count
    case .bytes(let content): content.count
    case .integers(let numbers): 20 + numbers.count * 12
    case .texts(let texts): texts.reduce(20) { $0 + 4 + ($1?.utf8.count ?? 0) }
    case .manyBytes(let contents): contents.reduce(20) { $0 + 4 + ($1?.count ?? 0) }
    }
  }
}
