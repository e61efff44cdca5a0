// Owns the view that a chaos run has of the bank's page: somebody who follows its events, as a browser does, and asks for the
// state, as a script does, over the socket in the home.
// Invariant: behind each kill both are to be right again within a bound: an answer that was asked for after the kill names the
// coordinator that is there, and an event has come after the kill. Each kill has a bound of its own: the next one moves nothing.
// Failure: a lost connection is opened again for as long as it takes; a bound that is missed is counted, once for all kills that
// are open then.
import ControlClient
import JSON
import Posix
import Time

final class ChaosPage {
  /// How long the page may be wrong behind a kill, whatever else is killed meanwhile.
  static let patience = TimeSpan.seconds(10)

  /// From a kill until the page was right again.
  private(set) var times: [TimeSpan] = []
  /// How often it was not within its time.
  private(set) var late: Int64 = 0
  private(set) var events: Int64 = 0
  private let socket: String
  private let loop: EventLoop
  private var stream: ChaosRequest?
  private var question: ChaosRequest?
  private var askedAt = MonotonicTime(nanoseconds: 0)
  private var nextQuestion = MonotonicTime(nanoseconds: 0)
  private var nextStream = MonotonicTime(nanoseconds: 0)
  /// The kills behind which the page has not been right yet, the oldest first.
  private var kills: [MonotonicTime] = []
  /// When the last right answer was asked for.
  private var rightAt = MonotonicTime(nanoseconds: 0)
  private var eventAt = MonotonicTime(nanoseconds: 0)
  private static let (pause, rest) = (TimeSpan.milliseconds(20), TimeSpan.milliseconds(5))
  /// An answer that does not come is asked for anew.
  private static let silence = TimeSpan.seconds(2)

  init(_ home: BankHome, on loop: EventLoop) {
    socket = Paths.join(home.path, "run", "web.sock")
    self.loop = loop
  }

  var isSettled: Bool { kills.isEmpty }

  /// A process of which the page shows something, or its own server, was killed.
  func killed(at now: MonotonicTime) { kills.append(now) }

  /// - Parameter coordinator: who is at work, as the bank itself says; nil where it says nothing now.
  func turn(_ now: MonotonicTime, coordinator: Int32?) {
    follow(now)
    ask(now, coordinator)
    while let kill = kills.first, rightAt > kill, eventAt > kill {
      times.append(now.since(kill))
      kills.removeFirst()
    }
    guard let kill = kills.first, now.since(kill) > Self.patience else { return }
    late += 1
    kills.removeAll()
  }

  private func follow(_ now: MonotonicTime) {
    if stream?.isOpen != true, now >= nextStream {
      nextStream = now + Self.rest
      stream = ChaosRequest("/events?page=/windows&lang=en", to: socket, on: loop)
    }
    guard let stream else { return }
    stream.read()
    // Of what was told only that it was is of interest here: the state is what the other question is for.
    guard stream.text.contains("\ndata:") else { return }
    events += 1
    eventAt = now
    stream.forget()
  }

  private func ask(_ now: MonotonicTime, _ coordinator: Int32?) {
    guard let question else {
      guard now >= nextQuestion else { return }
      (nextQuestion, askedAt) = (now + Self.pause, now)
      return self.question = ChaosRequest("/api/v1/status", to: socket, on: loop)
    }
    question.read()
    guard !question.isOpen || now.since(askedAt) > Self.silence else { return }
    if let coordinator, Self.coordinator(in: question.text) == Int64(coordinator) { rightAt = askedAt }
    self.question = nil
  }

  /// The coordinator's process that an answer names; nil where it is none of an open bank.
  private static func coordinator(in answer: String) -> Int64? {
    guard answer.hasPrefix("HTTP/1.1 200"), let end = answer.firstRange(of: "\r\n\r\n"),
      let document = try? JSONReader.read(Array(answer[end.upperBound...].utf8)),
      let bank = document["bank"], case .number(let digits)? = bank["pid"]?.content
    else { return nil }
    return Int64(digits)
  }

  func leave() { (stream, question) = (nil, nil) }
}

extension JSONNode {
  fileprivate subscript(_ name: String) -> JSONNode? {
    guard case .object(let members) = content else { return nil }
    return members.first { $0.key == name }?.value
  }
}
