// Admission of requests: hosts, origins, cookies and links, with each near miss beside the correct value.

import Foundation
import Testing
import Time

@testable import WebCore

@Suite("Admission")
struct AdmissionTests {
  private let rules = Admission(port: 8_700, name: "bank-12ab.localhost", proxyHosts: ["bank.example.org"])

  private func request(
    _ method: HTTPRequest.Method = .get, host: String?, origin: String? = nil, isLocal: Bool = false,
    isFromOwner: Bool? = nil, path: String = "/", _ others: [(String, String)] = []
  ) -> HTTPRequest {
    var headers = HTTPHeaders(others)
    if let host { headers.add("Host", host) }
    if let origin { headers.add("Origin", origin) }
    return HTTPRequest(
      method: method, target: RequestTarget(path: path), headers: headers, isLocal: isLocal,
      isFromOwner: isFromOwner)
  }

  @Test(
    "only a host of this server is answered",
    arguments: [
      ("127.0.0.1:8700", true), ("localhost:8700", true), ("bank.example.org", true), ("127.0.0.1", false),
      ("127.0.0.1:8701", false), ("localhost", false), ("evil.example.org:8700", false),
      ("bank-12ab.localhost:8700", true), ("bank-12ab.localhost", false), ("bank-12ac.localhost:8700", false),
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

  @Test("behind a proxy its origin is required; over the socket in the home none is needed")
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

  @Test(
    "over the socket only the owner's own requests need no cookie and no origin",
    arguments: [
      ("localhost", true, [], true), ("bank.example.org", true, [], false),
      ("127.0.0.1:8700", true, [], false),
      ("localhost", false, [], false), ("localhost", true, [("X-Forwarded-For", "203.0.113.9")], false),
      ("localhost", true, [("Forwarded", "for=203.0.113.9")], false),
      ("localhost", true, [("Via", "1.1 x")], false),
      ("localhost", true, [("X-Real-IP", "203.0.113.9")], false),
    ] as [(String, Bool, [(String, String)], Bool)])
  func owners(host: String, isFromOwner: Bool, others: [(String, String)], isLetIn: Bool) {
    let sent = request(.post, host: host, isLocal: true, isFromOwner: isFromOwner, others)
    #expect(rules.isOwners(sent) == isLetIn)
    #expect((rules.refusal(of: sent) == nil) == isLetIn)
    var old = sent
    old.isHTTP10 = true
    #expect(!rules.isOwners(old), "a proxy speaks HTTP/1.0 by default")
  }

  @Test(
    "a browser is redirected to the bank's name; a program, Safari and a proxy's name are not")
  func ownName() {
    let browser = [("Sec-Fetch-Mode", "navigate"), ("User-Agent", "Mozilla/5.0 Chrome/140.0 Safari/537.36")]
    let there = "http://bank-12ab.localhost:8700/windows"
    for host in ["127.0.0.1:8700", "localhost:8700"] {
      #expect(rules.ownAddress(of: request(host: host, path: "/windows", browser)) == there)
      #expect(rules.ownAddress(of: request(host: host, path: "/windows")) == nil)
      #expect(rules.ownAddress(of: request(.post, host: host, path: "/windows", browser)) == nil)
    }
    let safari = [("Sec-Fetch-Mode", "navigate"), ("User-Agent", "Mozilla/5.0 Version/18.1 Safari/605.1.15")]
    #expect(rules.ownAddress(of: request(host: "127.0.0.1:8700", path: "/windows", safari)) == nil)
    for host in ["bank.example.org", "bank-12ab.localhost:8700"] {
      #expect(rules.ownAddress(of: request(host: host, path: "/windows", browser)) == nil)
    }
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

  @Test("a link admits once, and not after its time")
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
    #expect(tries.map { $0 != nil } == [false, false, true, false, false])
  }

  @Test("of very many links the oldest is dropped")
  func manyLinks() {
    let random = numbers()
    var credentials = Credentials(Credentials.Secrets(random: random), port: 1)
    let tokens = (0...Credentials.maximumLinks).map { _ in credentials.issue(at: now, random: random) }
    #expect(tokens.prefix(2).map { credentials.redeem($0, at: now) != nil } == [false, true])
  }

  @Test("the cookie of a link admits until its session ends, and is read by no script")
  func cookies() throws {
    let random = numbers()
    var credentials = Credentials(Credentials.Secrets(random: random), port: 8_700)
    func startSession(_ grant: WebGrant, isProxied: Bool = false) throws -> String {
      var response = HTTPResponse(200)
      #expect(credentials.startSession(grant, &response, isProxied: isProxied, at: 5, random: random) == [])
      let header = try #require(response.headers.last { $0.name == "Set-Cookie" }?.value)
      #expect(header.contains("; HttpOnly; SameSite=Strict") && header.hasSuffix("; Secure") == isProxied)
      return String(header.prefix { $0 != ";" })
    }
    let first = try startSession(WebGrant(role: .kiosk, mayRun: true))
    let second = try startSession(WebGrant(mayRun: true), isProxied: true)
    #expect(first != second)
    let found = [first, second].map { credentials.session(of: request(cookie: "a=b; \($0)"), at: 6) }
    let (one, other) = (try #require(found[0]), try #require(found[1]))
    #expect(one.grant.role == .kiosk && !one.grant.mayRun, "a public screen runs no command")
    #expect(other.grant.role == .operator && other.grant.mayRun && !other.isManager)
    credentials.makeManager(other.id)
    let manager = credentials.session(of: request(cookie: second), at: 6)
    #expect(manager?.isManager == true)
    for wrong in [nil, first + "0", "bank-8700=", first.replacingOccurrences(of: "8700", with: "8701")] {
      let stranger = credentials.session(of: request(cookie: wrong), at: 6)
      #expect(stranger == nil, "\(wrong ?? "")")
    }
    #expect(!credentials.sessions.text.contains(first.dropFirst(10)), "the secret itself is stored nowhere")
    // Its successor knows the same sessions, until they end.
    var next = Credentials(
      credentials.secrets, port: 8_700, sessions: Sessions(text: credentials.sessions.text))
    let again = [first, second].map { next.session(of: request(cookie: $0), at: 7) }
    #expect(again[0]?.id == one.id && again[1]?.isManager == true)
    let ends = [next.end(one.id), next.end(one.id)]
    let gone = next.session(of: request(cookie: first), at: 7)
    let late = next.session(of: request(cookie: second), at: 5 + Sessions.lifetime)
    #expect(ends == [true, false] && gone == nil && late == nil)
    let expired = next.removeExpired(at: 5 + Sessions.lifetime)
    #expect(expired == [other.id] && next.sessions.all.isEmpty)
  }

  @Test("of very many sessions the least recently used one ends; a damaged list has none")
  func manySessions() {
    let random = numbers()
    var sessions = Sessions()
    let begun = (0...Sessions.maximumCount).map { sessions.begin(WebGrant(), at: Int64($0), random: random) }
    #expect(begun.last?.ended == [begun[0].session.id] && sessions.all.count == Sessions.maximumCount)
    #expect(Sessions(text: sessions.text).text == sessions.text)
    for text in [
      "", "sessions 2\n", sessions.text + "x\n",
      sessions.text.replacingOccurrences(of: " operator ", with: " king "),
    ] { #expect(Sessions(text: text).all.isEmpty) }
  }

  @Test("a server proves itself for one address, one session and one question")
  func proof() {
    let random = numbers()
    let credentials = Credentials(Credentials.Secrets(random: random), port: 8_700)
    let other = Credentials(Credentials.Secrets(random: random), port: 8_700)
    func proof(
      _ bank: Credentials, _ session: String = "12345678", _ host: String = "a:1", _ question: String = "q"
    ) -> String {
      bank.proof(of: session, host: host, question: question)
    }
    let right = proof(credentials)
    #expect(right == proof(Credentials(credentials.secrets, port: 1)), "a successor proves the same")
    for wrong in [
      proof(other), proof(credentials, "12345679"), proof(credentials, "12345678", "a:2"),
      proof(credentials, "12345678", "a:1", "r"),
    ] { #expect(wrong != right) }
    #expect(
      right
        == SHA256.hex(
          SHA256.hmac(
            of: Array("a:1 q".utf8), key: Array(credentials.proofKey(of: "12345678").utf8))))
  }

  @Test("a visitor who types wrong codes waits, with a message, and keeps no other visitor out")
  func codes() {
    var credentials = Credentials(Credentials.Secrets(random: numbers()), port: 1)
    let code = credentials.secrets.managerCode
    let other = code == "00000000" ? "00000001" : "00000000"
    let (mine, theirs) = (request(cookie: "bank-1=a"), request(cookie: "bank-1=b"))
    func checkCode(_ code: String, _ request: HTTPRequest, _ now: MonotonicTime) -> CodeVerdict {
      credentials.checkCode(code: code, of: request, at: now)
    }
    #expect(code.utf8.count == 8 && checkCode(code, mine, now) == .right)
    for _ in 1...CodeRateLimiter.atMost { #expect(checkCode(other, theirs, now) == .wrong) }
    for _ in 1...3 {
      #expect(checkCode(code, theirs, now) == .pause && checkCode(other, theirs, now) == .pause)
    }
    #expect(checkCode(code, mine, now) == .right)
    let later = now + CodeRateLimiter.pause
    #expect(checkCode(other, theirs, later) == .wrong && checkCode(code, theirs, later) == .right)
  }

  @Test("visitors who try codes are stored in bounded memory")
  func trials() {
    var trials = CodeRateLimiter()
    for visitor in 0..<(2 * CodeRateLimiter.visitors) {
      #expect(trials.checkCode("\(visitor)", at: now) { false } == .wrong)
    }
    for _ in 2...CodeRateLimiter.atMost { #expect(trials.checkCode("0", at: now) { false } == .wrong) }
    #expect(
      trials.checkCode("0", at: now) { true } == .right, "the first visitor was dropped, and started again")
  }

  @Test("secrets come back from their file, and nothing else does")
  func file() {
    let secrets = Credentials.Secrets(random: numbers())
    #expect(Credentials.Secrets(text: secrets.text) == secrets)
    #expect(Credentials.Secrets(text: "") == nil && Credentials.Secrets(text: secrets.text + "x\n") == nil)
    #expect(Credentials.Secrets(text: secrets.text.uppercased()) == nil)
    #expect(secrets.host.hasPrefix("bank-") && secrets.host.hasSuffix(".localhost"))
  }
}
