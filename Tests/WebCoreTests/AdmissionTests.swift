// Who is let through: hosts, origins, cookies and links, with each near miss beside what is right.

import Testing
import Time

@testable import WebCore

@Suite("Admission")
struct AdmissionTests {
  private let rules = Admission(port: 8_700, proxied: ["bank.example.org"])

  private func request(
    _ method: HTTPRequest.Method = .get, host: String?, origin: String? = nil, isLocal: Bool = false
  ) -> HTTPRequest {
    var headers = HTTPHeaders()
    if let host { headers.add("Host", host) }
    if let origin { headers.add("Origin", origin) }
    return HTTPRequest(
      method: method, target: RequestTarget(path: "/"), headers: headers, isLocal: isLocal)
  }

  @Test(
    "only a host of this server is answered",
    arguments: [
      ("127.0.0.1:8700", true), ("localhost:8700", true), ("bank.example.org", true), ("127.0.0.1", false),
      ("127.0.0.1:8701", false), ("localhost", false), ("evil.example.org:8700", false),
      ("127.0.0.1:8700.evil.example.org", false), ("LOCALHOST:8700 ", false), ("", false),
    ])
  func hosts(host: String, isOwn: Bool) {
    #expect(rules.refusal(of: request(host: host)) == (isOwn ? nil : .host))
    #expect(rules.refusal(of: request(host: nil)) == .host)
  }

  @Test("over the socket in the home localhost is a host, too")
  func localHost() {
    #expect(rules.refusal(of: request(host: "localhost", isLocal: true)) == nil)
    #expect(rules.refusal(of: request(host: "evil", isLocal: true)) == .host)
  }

  @Test(
    "a change needs this server's own origin",
    arguments: [
      (nil, false), ("http://127.0.0.1:8700", true), ("http://localhost:8700", false),
      ("https://127.0.0.1:8700", false), ("null", false), ("http://127.0.0.1:8701", false),
      ("http://127.0.0.1:8700.evil", false), ("", false),
    ] as [(String?, Bool)])
  func origins(origin: String?, isOwn: Bool) {
    let sent = request(.post, host: "127.0.0.1:8700", origin: origin)
    #expect(rules.refusal(of: sent) == (isOwn ? nil : .origin))
    #expect(rules.refusal(of: request(host: "127.0.0.1:8700", origin: origin)) == nil)
  }

  @Test("behind a proxy the origin is that of the proxy; over the socket in the home there need be none")
  func otherOrigins() {
    #expect(
      rules.refusal(of: request(.post, host: "bank.example.org", origin: "https://bank.example.org")) == nil)
    #expect(
      rules.refusal(of: request(.post, host: "bank.example.org", origin: "http://bank.example.org"))
        == .origin)
    #expect(rules.refusal(of: request(.post, host: "localhost", isLocal: true)) == nil)
    #expect(
      rules.refusal(of: request(.post, host: "localhost", origin: "http://evil", isLocal: true)) == .origin)
  }

  @Test("other methods are refused")
  func methods() {
    #expect(rules.refusal(of: request(.other("PUT"), host: "127.0.0.1:8700")) == .method)
    #expect(HTTPRequest.Method("get") == .other("get"))
  }
}

@Suite("Credentials")
struct CredentialsTests {
  private let now = MonotonicTime(nanoseconds: 1_000)

  private func numbers() -> () -> UInt64 {
    var next: UInt64 = 0
    return {
      next &+= 0x9e37_79b9_7f4a_7c15
      return next
    }
  }

  private func request(cookie: String?, isLocal: Bool = false) -> HTTPRequest {
    HTTPRequest(
      method: .get, target: RequestTarget(path: "/"),
      headers: HTTPHeaders(cookie.map { [("cookie", $0)] } ?? []), isLocal: isLocal)
  }

  @Test("a link lets in once, and not after its time")
  func links() {
    let random = numbers()
    var credentials = Credentials(Credentials.Secrets(random: random), port: 8_700)
    let first = credentials.issue(at: now, random: random)
    let second = credentials.issue(at: now, random: random)
    #expect(first != second && first.utf8.count == 64)
    let wrong = String(first.dropLast()) + "x"
    let tries = [
      (wrong, now), ("", now), (first, now), (first, now), (second, now + Credentials.lifetime),
    ].map { credentials.redeem($0.0, at: $0.1) }
    #expect(tries == [false, false, true, false, false])
  }

  @Test("of very many links the oldest is given up")
  func manyLinks() {
    let random = numbers()
    var credentials = Credentials(Credentials.Secrets(random: random), port: 1)
    let tokens = (0...Credentials.mostLinks).map { _ in credentials.issue(at: now, random: random) }
    #expect(tokens.prefix(2).map { credentials.redeem($0, at: now) } == [false, true])
  }

  @Test("the cookie that is set lets in, is no manager's, and is read by no script")
  func cookies() throws {
    let credentials = Credentials(Credentials.Secrets(random: numbers()), port: 8_700)
    var response = HTTPResponse(200)
    credentials.letIn(&response, isProxied: false)
    let header = try #require(response.headers.last { $0.name == "Set-Cookie" }?.value)
    #expect(header.contains("; HttpOnly; SameSite=Strict") && !header.contains("Secure"))
    let cookie = String(header.prefix { $0 != ";" })
    #expect(credentials.isLetIn(request(cookie: "a=b; \(cookie)")))
    #expect(!credentials.isManager(request(cookie: cookie)))
    #expect(!credentials.isLetIn(request(cookie: nil)) && !credentials.isLetIn(request(cookie: cookie + "0")))
    #expect(credentials.isLetIn(request(cookie: nil, isLocal: true)))
    var managers = HTTPResponse(200)
    credentials.makeManager(&managers, isProxied: true)
    let second = try #require(managers.headers.last { $0.name == "Set-Cookie" }?.value)
    #expect(second.hasSuffix("; Secure"))
    let both = cookie + "; " + second.prefix { $0 != ";" }
    #expect(credentials.isManager(request(cookie: both)))
    #expect(!credentials.isManager(request(cookie: String(second.prefix { $0 != ";" }))))
  }

  @Test("a visitor who types wrong codes waits, is told so, and keeps no other visitor out")
  func codes() {
    var credentials = Credentials(Credentials.Secrets(random: numbers()), port: 1)
    let code = credentials.secrets.managerCode
    let other = code == "00000000" ? "00000001" : "00000000"
    let (mine, theirs) = (request(cookie: "bank-1=a"), request(cookie: "bank-1=b"))
    func judge(_ code: String, _ request: HTTPRequest, _ now: MonotonicTime) -> CodeVerdict {
      credentials.judge(code: code, of: request, at: now)
    }
    #expect(code.utf8.count == 8 && judge(code, mine, now) == .right)
    for _ in 1...CodeTrials.atMost { #expect(judge(other, theirs, now) == .wrong) }
    for _ in 1...3 { #expect(judge(code, theirs, now) == .pause && judge(other, theirs, now) == .pause) }
    #expect(judge(code, mine, now) == .right)
    let later = now + CodeTrials.pause
    #expect(judge(other, theirs, later) == .wrong && judge(code, theirs, later) == .right)
  }

  @Test("visitors who try codes are remembered in bounded memory")
  func trials() {
    var trials = CodeTrials()
    for visitor in 0..<(2 * CodeTrials.visitors) {
      #expect(trials.judge("\(visitor)", at: now) { false } == .wrong)
    }
    for _ in 2...CodeTrials.atMost { #expect(trials.judge("0", at: now) { false } == .wrong) }
    #expect(trials.judge("0", at: now) { true } == .right, "the first visitor was forgotten, and began anew")
  }

  @Test("secrets come back from their file, and nothing else does")
  func file() {
    let secrets = Credentials.Secrets(random: numbers())
    #expect(Credentials.Secrets(text: secrets.text) == secrets)
    #expect(Credentials.Secrets(text: "") == nil && Credentials.Secrets(text: secrets.text + "x\n") == nil)
    #expect(Credentials.Secrets(text: secrets.text.uppercased()) == nil)
  }
}
