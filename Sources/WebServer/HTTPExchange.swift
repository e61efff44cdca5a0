// One request and its answer, from the first line to the last byte. It is the context that libmicrohttpd stores for the
// request.
// Invariant: the request is answered at most once. While its handler prepares the answer, the connection is
// suspended.
// Errors: an answer to a client that has disconnected is dropped.
import CMicrohttpd
import Posix
import Time
import WebCore

/// One request with its single answer.
public final class HTTPExchange {
  /// Progress of a request from its first line to the answer.
  private enum Stage {
    /// The headers have not been read yet.
    case started
    /// The headers were read, and the body arrives.
    case reading
    /// The handler has received the request and has not answered.
    case awaitingAnswer
    /// Answered, but not passed to the library yet.
    case answered
    /// The answer was passed on, or the request ended without one.
    case sent
  }

  /// The one answer of a request: a response, or a stream of events.
  private enum Answer {
    case response(HTTPResponse)
    case stream(any EventFeed, from: Int64, owner: String?)
  }

  /// The request. Its body is complete when ``HTTPHandler/serve(_:)`` receives it.
  public private(set) var request: HTTPRequest
  /// True if the request waits for an answer and was not cancelled.
  public var isOpen: Bool { stage == .awaitingAnswer && !isAbandoned }
  /// False if the target of the request is malformed.
  private let hasGoodTarget: Bool
  private var stage = Stage.started
  private var answer: Answer?
  /// True while the library does not handle the connection, because the answer is missing.
  private var isSuspended = false
  /// True after the request was cancelled or finished.
  private var isAbandoned = false
  private let startedAt = SystemClock.monotonic()
  /// Number of surplus body bytes, which were read and dropped.
  private var excess = 0
  private let connection: HTTPConnection
  /// The connection as the library knows it.
  private let mhdConnection: OpaquePointer
  private unowned let server: HTTPServer
  /// Refusal to send after the body was read. Answering earlier could cut off a client that still sends.
  private var pendingRefusal: HTTPResponse?

  init(
    _ target: RequestTarget?, _ connection: HTTPConnection, _ mhdConnection: OpaquePointer,
    _ server: HTTPServer
  ) {
    hasGoodTarget = target != nil
    request = HTTPRequest(
      method: .get, target: target ?? RequestTarget(path: "/"), isLocal: connection.origin.isLocal,
      isFromOwner: connection.origin.isFromOwner)
    self.connection = connection
    self.mhdConnection = mhdConnection
    self.server = server
  }

  // MARK: - Answers

  /// Sends a response. Only the first answer counts.
  public func respond(_ response: HTTPResponse) { settle(.response(response)) }

  /// Answers with a stream of the pieces of a feed after a position.
  ///
  /// - Parameter owner: owner of the stream, for ``HTTPServer/endStreams(of:)``; nil for none.
  public func stream(_ feed: any EventFeed, from position: Int64 = 0, owner: String? = nil) {
    settle(.stream(feed, from: position, owner: owner))
  }

  /// Stores the answer and resumes the connection. Does nothing if the request does not wait for an answer.
  private func settle(_ answer: Answer) {
    guard stage == .awaitingAnswer, self.answer == nil else { return }
    self.answer = answer
    stage = .answered
    resume()
  }

  /// Makes the library handle the suspended connection again.
  private func resume() {
    guard isSuspended else { return }
    isSuspended = false
    MHD_resume_connection(mhdConnection)
    server.schedule()
  }

  /// Cancels the request, because its connection or the server is closing.
  func abandon() {
    isAbandoned = true
    if answer == nil { answer = .response(.text(503, "the server is stopping")) }
    if stage == .awaitingAnswer { stage = .answered }
    resume()
  }

  // MARK: - Callbacks of the library

  /// Called by the library for each step of a request: handles the head, a part of the body, or the end.
  /// - Parameter unread: number of body bytes offered by the library; set to 0 when they were consumed.
  func advance(
    method: UnsafePointer<CChar>, version: String, upload: UnsafeRawBufferPointer, _ unread: inout Int
  ) -> MHD_Result {
    switch stage {
    case .started:
      stage = .reading
      request.isHTTP10 = version != "HTTP/1.1"
      copyHead(method: String(cString: method))
      guard let refusal = refusal() ?? server.handler?.admit(request) else { return httpd_yes() }
      guard hasBody else {
        stage = .sent
        return send(refusal)
      }
      pendingRefusal = refusal
      server.setDeadline(connection, Self.drainTimeout)
      return httpd_yes()
    case .reading where !upload.isEmpty:
      unread = 0
      return receiveBody(upload)
    case .reading:
      server.setDeadline(connection, nil)
      stage = .awaitingAnswer
      if let pendingRefusal {
        respond(pendingRefusal)
      } else if excess > 0 {
        respond(Self.tooLarge)
      } else if let handler = server.handler {
        handler.serve(self)
      } else {
        respond(.text(503, "there is no handler"))
      }
      return sendOrWait()
    case .awaitingAnswer, .answered: return sendOrWait()
    case .sent: return httpd_yes()
    }
  }

  /// True if the client sends a body without waiting for `100 Continue`, and the length of the body is unknown or at
  /// most ``maximumExcess``.
  private var hasBody: Bool {
    let headers = request.headers
    guard headers["expect"] == nil else { return false }
    return headers["transfer-encoding"] != nil
      || (headers["content-length"].flatMap { UInt64($0) }).map { 1...UInt64(Self.maximumExcess) ~= $0 }
        ?? false
  }

  /// Maximum pause while the rest of a refused request is read. Then the request is answered without its rest.
  private static let drainTimeout = TimeSpan.seconds(1)

  /// Answers a refused request whose body does not arrive; false if it was not refused or nothing could be sent. The
  /// library answers only after the whole request, so this method writes to the socket itself.
  func answerStalledBody() -> Bool {
    guard stage == .reading, let pendingRefusal, connection.sendDirectly(pendingRefusal.serialized()) else {
      return false
    }
    stage = .sent
    return true
  }

  /// Maximum number of body bytes that are read and dropped. The timeout of a request bounds them, too.
  private static let maximumExcess = 64 << 20
  private static let tooLarge = HTTPResponse.text(413, "the body is too large")

  /// Copies the method and the headers from libmicrohttpd into `request`.
  private func copyHead(method: String) {
    request.method = HTTPRequest.Method(method)
    let collected = HeaderCollector()
    let context = Unmanaged.passUnretained(collected).toOpaque()
    httpd_each_header(mhdConnection, HeaderCollector.collect, context)
    request.headers = collected.headers
  }

  /// The response that refuses a request which the library accepts and this server does not; nil for other requests
  /// (RFC 9112, sections 3.2, 5.1 and 6.3).
  private func refusal() -> HTTPResponse? {
    let headers = request.headers
    guard hasGoodTarget else { return .text(400, "the target is malformed") }
    guard headers.haveValidNames else { return .text(400, "a header has an invalid name") }
    guard headers.count(of: "host") == 1 else { return .text(400, "there must be one Host header") }
    let encodings = headers.count(of: "transfer-encoding")
    let lengths = headers.count(of: "content-length")
    guard encodings + lengths <= 1 else { return .text(400, "the length of the body is ambiguous") }
    if let encoding = headers["transfer-encoding"], encoding.lowercased() != "chunked" {
      return .text(501, "this transfer encoding is not supported")
    }
    if let text = headers["content-length"] {
      guard let length = UInt64(text), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
        return .text(400, "the length of the body is not a number")
      }
      if length > UInt64(server.limits.body) { return Self.tooLarge }
    }
    return nil
  }

  /// Appends a part of the body to the request, or drops it if the request is refused or too large. After too many
  /// dropped bytes the result closes the connection.
  private func receiveBody(_ upload: UnsafeRawBufferPointer) -> MHD_Result {
    guard pendingRefusal == nil, request.body.count + upload.count <= server.limits.body else {
      // Read and drop the body, so that the client can read the refusal.
      excess += upload.count
      if pendingRefusal != nil {
        let end = startedAt + server.limits.request
        server.setDeadline(connection, min(Self.drainTimeout, end.since(SystemClock.monotonic())))
      }
      return excess <= Self.maximumExcess ? httpd_yes() : httpd_no()
    }
    request.body.append(contentsOf: upload)
    return httpd_yes()
  }

  /// Passes the answer to the library, or suspends the connection if there is none yet.
  private func sendOrWait() -> MHD_Result {
    guard let answer else {
      isSuspended = true
      MHD_suspend_connection(mhdConnection)
      return httpd_yes()
    }
    stage = .sent
    guard !isAbandoned else { return httpd_no() }
    switch answer {
    case .response(let response): return send(response)
    case .stream(let feed, let position, let owner):
      // The viewer gets a duplicate of the descriptor, and the library closes its own.
      server.startStream(feed, connection, from: position, owner: owner)
      return httpd_no()
    }
  }

  /// Passes a response to the library, and sets the deadline for writing it.
  private func send(_ response: HTTPResponse) -> MHD_Result {
    server.setDeadline(connection, server.limits.answer)
    return queue(response.body.withUnsafeBytes { httpd_response($0.baseAddress, $0.count) }, response)
  }

  /// Adds the headers of a response to the library's response `made`, and queues that for the connection.
  private func queue(_ made: OpaquePointer?, _ response: HTTPResponse) -> MHD_Result {
    guard let made else { return httpd_no() }
    defer { MHD_destroy_response(made) }
    for (name, value) in response.headers { _ = MHD_add_response_header(made, name, value) }
    return MHD_queue_response(mhdConnection, CUnsignedInt(clamping: response.status), made)
  }

  /// Called when the library has finished the request, with or without an answer: makes the connection idle, or ends it
  /// if the server is closing.
  func complete() {
    isAbandoned = true
    isSuspended = false
    stage = .sent
    // A handler may keep a reference to an answered request, but its connection is idle.
    connection.exchange = nil
    if server.isClosing {
      // The request is finished, and a closing server accepts no further one.
      connection.end()
      server.schedule()
    } else {
      connection.since = SystemClock.monotonic()
      server.setDeadline(connection, server.limits.idle)
    }
  }
}

/// Collects the headers of a request one by one.
private final class HeaderCollector {
  var headers = HTTPHeaders()

  /// Callback of the library: adds one header to the collector in `context`.
  static let collect: MHD_KeyValueIterator = { context, _, name, value in
    guard let context, let name else { return httpd_no() }
    Unmanaged<HeaderCollector>.fromOpaque(context).takeUnretainedValue().headers.add(
      String(cString: name), value.map { String(cString: $0) } ?? "")
    return httpd_yes()
  }
}
