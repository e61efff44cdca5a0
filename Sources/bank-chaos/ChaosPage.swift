// Client of the bank's web page in a chaos run: follows the events like a browser, and polls the status like a script,
// over the socket in the home.
// Invariant: after each kill the events and the status must be right again within a bound. An answer requested after
// the kill must name the current coordinator, and an event must arrive after the kill. Each kill has its own bound,
// which later kills do not move. Only time with a coordinator counts, because no page can name a coordinator that does
// not exist.
// Errors: a lost connection is opened again as often as needed; a missed bound is counted once for all open kills.
import ControlClient
import JSON
import Posix
import Time

final class ChaosPage {
  /// Longest time with a coordinator that the page may be wrong after a kill, regardless of other kills.
  static let timeout = TimeSpan.seconds(10)

  /// Times from a kill until the page was right again.
  private(set) var times: [TimeSpan] = []
  /// Number of times that the page was not right in time.
  private(set) var late: Int64 = 0
  /// Number of reads of the stream that contained an event.
  private(set) var events: Int64 = 0
  private let socket: String
  private let loop: EventLoop
  private var stream: ChaosRequest?
  private var statusRequest: ChaosRequest?
  private var askedAt = MonotonicTime(nanoseconds: 0)
  private var nextStatusAt = MonotonicTime(nanoseconds: 0)
  private var nextStream = MonotonicTime(nanoseconds: 0)
  /// Kills after which the page has not yet reported the present coordinator and sent an event, oldest first, with
  /// the value of ``listeningTime`` at each.
  private var kills: [(at: MonotonicTime, attended: TimeSpan)] = []
  /// Total time of the run in which there was a coordinator.
  private var listeningTime = TimeSpan.zero
  private var lastTurn: MonotonicTime?
  /// Time at which the last right answer was requested.
  private var correctAt = MonotonicTime(nanoseconds: 0)
  /// Time at which the last event arrived.
  private var eventAt = MonotonicTime(nanoseconds: 0)
  /// Pause between two requests for the status, and before the stream is opened again.
  private static let (pause, rest) = (TimeSpan.milliseconds(20), TimeSpan.milliseconds(5))
  /// Time after which a request without an answer is repeated.
  private static let requestTimeout = TimeSpan.seconds(2)

  init(_ home: BankHome, on loop: EventLoop) {
    socket = Paths.join(home.path, "run", "web.sock")
    self.loop = loop
  }

  /// True if the page was right after every kill, or was counted as late.
  var isSettled: Bool { kills.isEmpty }

  /// Records the kill of a process that the page shows, or of the page's server. Starts to measure the time until the
  /// page is right again.
  func killed(at now: MonotonicTime) { kills.append((now, listeningTime)) }

  /// Reads events and status, and ends the measurement of each kill after which both are right again.
  ///
  /// - Parameter coordinator: pid of the running coordinator by the bank's own report; nil if there is none
  ///   now.
  func runIteration(_ now: MonotonicTime, coordinator: Int32?) {
    follow(now)
    ask(now, coordinator)
    if let lastTurn, coordinator != nil { listeningTime = listeningTime + now.since(lastTurn) }
    lastTurn = now
    while let kill = kills.first, correctAt > kill.at, eventAt > kill.at {
      times.append(now.since(kill.at))
      kills.removeFirst()
    }
    guard let kill = kills.first, listeningTime - kill.attended > Self.timeout else { return }
    late += 1
    kills.removeAll()
  }

  /// Reads the stream of events, and opens it again if it has ended.
  private func follow(_ now: MonotonicTime) {
    if stream?.isOpen != true, now >= nextStream {
      nextStream = now + Self.rest
      stream = ChaosRequest("/events?page=/windows&lang=en", to: socket, on: loop)
    }
    guard let stream else { return }
    stream.read()
    // Only the arrival of an event matters here; the polled status has the state.
    guard stream.text.contains("\ndata:") else { return }
    events += 1
    eventAt = now
    stream.forget()
  }

  /// Requests the status of the bank from the page, or reads its answer, which is right if it contains the pid
  /// `coordinator`.
  private func ask(_ now: MonotonicTime, _ coordinator: Int32?) {
    guard let statusRequest else {
      guard now >= nextStatusAt else { return }
      (nextStatusAt, askedAt) = (now + Self.pause, now)
      return self.statusRequest = ChaosRequest("/api/v1/status", to: socket, on: loop)
    }
    statusRequest.read()
    guard !statusRequest.isOpen || now.since(askedAt) > Self.requestTimeout else { return }
    if let coordinator, Self.coordinator(in: statusRequest.text) == Int64(coordinator) { correctAt = askedAt }
    self.statusRequest = nil
  }

  /// The coordinator's pid in an answer; nil if the answer contains none.
  private static func coordinator(in answer: String) -> Int64? {
    guard answer.hasPrefix("HTTP/1.1 200"), let end = answer.firstRange(of: "\r\n\r\n"),
      let document = try? JSONReader.read(Array(answer[end.upperBound...].utf8)),
      let bank = document["bank"], case .number(let digits)? = bank["pid"]?.content
    else { return nil }
    return Int64(digits)
  }

  /// Ends the stream and the open request.
  func disconnect() { (stream, statusRequest) = (nil, nil) }
}

extension JSONNode {
  /// The member of an object with this name; nil if there is none.
  fileprivate subscript(_ name: String) -> JSONNode? {
    guard case .object(let members) = content else { return nil }
    return members.first { $0.key == name }?.value
  }
}
