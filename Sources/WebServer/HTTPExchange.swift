// Owns one request and its answer, from the first line to the last byte, as the library's context of that request.
// Invariant: it is answered at most once. While nobody has answered it, its connection is suspended, so it costs nothing.
// Failure: whoever has left is answered into nothing.
import CMicrohttpd
import Posix
import Time
import WebCore

/// One request, which is answered once.
public final class HTTPExchange {
  private enum Stage {
    /// Its headers have not been looked at.
    case begun
    case reading
    /// Somebody shall answer it.
    case asked
    /// It has an answer that the library has not got.
    case answered
    case sent
  }

  private enum Answer {
    case response(HTTPResponse)
    case stream(any EventFeed, from: Int64)
  }

  /// What was asked; without a body until it is served.
  public private(set) var request: HTTPRequest
  /// Whether it waits for an answer. Nobody need look for one for whoever has left.
  public var isOpen: Bool { stage == .asked && !isAbandoned }
  private let hasGoodTarget: Bool
  private var stage = Stage.begun
  private var answer: Answer?
  private var isSuspended = false
  private var isAbandoned = false
  /// Bytes of the body that were too many, and read to be forgotten.
  private var excess = 0
  private let connection: HTTPConnection
  private let library: OpaquePointer
  private unowned let server: HTTPServer
  private var viewer: EventViewer?

  init(
    _ target: RequestTarget?, _ connection: HTTPConnection, _ library: OpaquePointer, _ server: HTTPServer
  ) {
    hasGoodTarget = target != nil
    request = HTTPRequest(
      method: .get, target: target ?? RequestTarget(path: "/"), isLocal: connection.isLocal)
    self.connection = connection
    self.library = library
    self.server = server
  }

  // MARK: - Answering

  /// Answers. Only the first answer counts.
  public func respond(_ response: HTTPResponse) { settle(.response(response)) }

  /// Answers with everything that a feed has to say from now on, to somebody who has been told up to a place.
  public func stream(_ feed: any EventFeed, from place: Int64 = 0) { settle(.stream(feed, from: place)) }

  private func settle(_ answer: Answer) {
    guard stage == .asked, self.answer == nil else { return }
    self.answer = answer
    stage = .answered
    resume()
  }

  private func resume() {
    guard isSuspended else { return }
    isSuspended = false
    MHD_resume_connection(library)
    server.owe()
  }

  /// Its connection is to end: whoever would be told something is not any more.
  func abandon() {
    isAbandoned = true
    viewer?.end()
    if answer == nil { answer = .response(.words(503, "the server ends")) }
    if stage == .asked { stage = .answered }
    resume()
  }

  // MARK: - What the library tells

  /// The next part of the request, or the moment to answer it.
  /// - Parameter unread: what the library still wants to be rid of; set to 0 when it was taken.
  func advance(
    method: UnsafePointer<CChar>, upload: UnsafeRawBufferPointer, _ unread: inout Int
  ) -> MHD_Result {
    switch stage {
    case .begun:
      stage = .reading
      readHead(method: String(cString: method))
      guard let refusal = refusal() ?? server.handler?.admit(request) else { return httpd_yes() }
      stage = .sent
      return send(refusal)
    case .reading where !upload.isEmpty:
      unread = 0
      return take(upload)
    case .reading:
      server.give(connection, nil)
      stage = .asked
      if excess > 0 {
        respond(Self.tooLarge)
      } else if let handler = server.handler {
        handler.serve(self)
      } else {
        respond(.words(503, "nobody answers"))
      }
      return sendOrWait()
    case .asked, .answered: return sendOrWait()
    case .sent: return httpd_yes()
    }
  }

  private static let tooLarge = HTTPResponse.words(413, "the body is too large")

  private func readHead(method: String) {
    request.method = HTTPRequest.Method(method)
    let collected = HeaderCollector()
    let context = Unmanaged.passUnretained(collected).toOpaque()
    httpd_each_header(library, HeaderCollector.collect, context)
    request.headers = collected.headers
  }

  /// What the library lets through and this server does not (RFC 9112, sections 3.2, 5.1 and 6.3).
  private func refusal() -> HTTPResponse? {
    let headers = request.headers
    guard hasGoodTarget else { return .words(400, "the target cannot be understood") }
    guard headers.areWellNamed else { return .words(400, "a header has no good name") }
    guard headers.count(of: "host") == 1 else { return .words(400, "there must be one Host header") }
    let encodings = headers.count(of: "transfer-encoding")
    let lengths = headers.count(of: "content-length")
    guard encodings + lengths <= 1 else { return .words(400, "the length of the body is not clear") }
    if let encoding = headers["transfer-encoding"], encoding.lowercased() != "chunked" {
      return .words(501, "no such encoding of a body is understood")
    }
    if let text = headers["content-length"] {
      guard let length = UInt64(text), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
        return .words(400, "the length of the body is no number")
      }
      if length > UInt64(server.limits.body) { return Self.tooLarge }
    }
    return nil
  }

  private func take(_ upload: UnsafeRawBufferPointer) -> MHD_Result {
    guard request.body.count + upload.count <= server.limits.body else {
      // It is heard out for a while, so that it hears why; whoever goes on for ever does not.
      excess += upload.count
      return excess <= 16 * server.limits.body ? httpd_yes() : httpd_no()
    }
    request.body.append(contentsOf: upload)
    return httpd_yes()
  }

  private func sendOrWait() -> MHD_Result {
    guard let answer else {
      isSuspended = true
      MHD_suspend_connection(library)
      return httpd_yes()
    }
    stage = .sent
    guard !isAbandoned else { return httpd_no() }
    switch answer {
    case .response(let response): return send(response)
    case .stream(let feed, let place): return send(feed, from: place)
    }
  }

  private func send(_ response: HTTPResponse) -> MHD_Result {
    server.give(connection, server.limits.answer)
    return queue(response.body.withUnsafeBytes { httpd_response($0.baseAddress, $0.count) }, response)
  }

  private func send(_ feed: any EventFeed, from place: Int64) -> MHD_Result {
    server.give(connection, nil)
    let viewer = EventViewer(feed, connection, library, server)
    viewer.place = place
    let context = Unmanaged.passRetained(viewer).toOpaque()
    guard
      let made = MHD_create_response_from_callback(
        .max, EventViewer.blockSize, EventViewer.read, context, EventViewer.release)
    else {
      Unmanaged<EventViewer>.fromOpaque(context).release()
      return httpd_no()
    }
    self.viewer = viewer
    // A stream may last for days, and nobody asks any more what it was asked with.
    request.headers = HTTPHeaders()
    request.target = RequestTarget(path: "")
    let response = HTTPResponse.events
    viewer.begin(made, response.headers)
    let result = queue(made, response)
    if result == httpd_yes() { feed.join(viewer) }
    return result
  }

  private func queue(_ made: OpaquePointer?, _ response: HTTPResponse) -> MHD_Result {
    guard let made else { return httpd_no() }
    defer { MHD_destroy_response(made) }
    for (name, value) in response.headers { _ = MHD_add_response_header(made, name, value) }
    return MHD_queue_response(library, CUnsignedInt(clamping: response.status), made)
  }

  /// The library is done with it, whether it was answered or not.
  func complete() {
    isAbandoned = true
    isSuspended = false
    stage = .sent
    viewer?.leave()
    viewer = nil
    if server.isClosing {
      // It has been written, and there is no next request.
      connection.end()
      server.owe()
    } else {
      server.give(connection, server.limits.idle)
    }
  }
}

/// Takes the headers of a request one by one.
private final class HeaderCollector {
  var headers = HTTPHeaders()

  static let collect: MHD_KeyValueIterator = { context, _, name, value in
    guard let context, let name else { return httpd_no() }
    Unmanaged<HeaderCollector>.fromOpaque(context).takeUnretainedValue().headers.add(
      String(cString: name), value.map { String(cString: $0) } ?? "")
    return httpd_yes()
  }
}
