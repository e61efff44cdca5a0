// Digests, roles, and heads of requests: what is accepted, with each near miss beside it.
import Testing

@testable import WebCore

@Suite("SHA-256")
struct SHA256Tests {
  // FIPS 180-4, the examples of NIST; RFC 4231, test cases 1, 2 and 6.
  @Test(
    "texts of every length have the digest of the standard",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        String(repeating: "a", count: 1_000),
        "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
      ),
    ])
  func digest(text: String, expected: String) {
    #expect(SHA256.hex(SHA256.digest(Array(text.utf8))) == expected)
  }

  @Test("a message has the code of the standard, also under a long key")
  func hmac() {
    let cases: [([UInt8], String, String)] = [
      (
        [UInt8](repeating: 0x0b, count: 20), "Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8), "what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ]
    for (key, message, expected) in cases {
      #expect(SHA256.hex(SHA256.hmac(of: Array(message.utf8), key: key)) == expected)
    }
  }
}

@Suite("Roles")
struct RoleTests {
  private func may(_ role: WebRole, _ method: HTTPRequest.Method, _ target: String) -> Bool {
    guard let target = RequestTarget(target.utf8) else { return false }
    return role.permits(HTTPRequest(method: method, target: target))
  }

  @Test("an operator and a manager may do everything, a viewer may read everything")
  func own() {
    for path in ["/reset", "/windows/end", "/customers", "/api/v1/customers", "/stock"] {
      #expect(may(.operator, .post, path) && may(.manager, .post, path))
      #expect(!may(.viewer, .post, path))
    }
    for path in ["/", "/windows", "/events?page=/tickets", "/api/v1/audit"] {
      #expect(may(.viewer, .get, path))
    }
    for role in WebRole.allCases { #expect(may(role, .post, "/logout") && may(role, .post, "/language")) }
  }

  @Test(
    "a public screen serves customers and shows calls, and none of the operator's pages",
    arguments: [
      ("GET /kiosk", true), ("GET /lobby", true), ("GET /ticket/7", true), ("GET /", true),
      ("GET /juice", true),
      ("GET /events?page=/lobby", true), ("GET /events?page=/windows", false),
      ("GET /events?page=/lobby&page=/windows", false), ("GET /events", false), ("GET /windows", false),
      ("GET /tickets", false), ("GET /windows/loan-1/log", false), ("GET /vending/admin", false),
      ("GET /api/v1/status", false), ("GET /reset", false), ("POST /customers", true), ("POST /juice", true),
      ("POST /vending/buy", true), ("POST /reset", false), ("POST //reset", false),
      ("POST /windows/end", false),
      ("POST /tickets/cancel", false), ("POST /stock", false), ("POST /windows/scale", false),
      ("POST /vending/admin/login", false), ("POST /api/v1/reset", false), ("POST /api/v1/customers", true),
    ])
  func kiosk(line: String, isAllowed: Bool) {
    let words = line.split(separator: " ").map { String($0) }
    #expect(may(.kiosk, HTTPRequest.Method(words[0]), words[1]) == isAllowed)
  }
}

@Suite("Heads of requests")
struct HeadCheckTests {
  private func check(_ text: String) -> HeadCheck { HeadCheck(Array(text.utf8)) }

  private func status(_ text: String) -> Int? {
    if case .refused(let status, _) = check(text) { status } else { nil }
  }

  @Test("a head is accepted as soon as it is complete, in pieces of any size")
  func pieces() {
    let head = "GET /a?b=c HTTP/1.1\r\nHost: x\r\nCookie: a=b\r\n\r\n"
    for count in 0..<head.utf8.count { #expect(HeadCheck(Array(head.utf8.prefix(count))) == .incomplete) }
    #expect(check(head) == .good(head.utf8.count) && check(head + "body") == .good(head.utf8.count))
    #expect(check("\r\n" + head) == .good(head.utf8.count + 2))
    #expect(check("GET / HTTP/1.1\nHost: x\n\n") == .good(24))
  }

  @Test("up to its limit a head is read, and beyond it is refused before it is complete")
  func large() {
    func head(_ count: Int) -> String {
      let rest = "GET /api HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nCookie: a="
      return rest + String(repeating: "b", count: count - rest.utf8.count - 4) + "\r\n\r\n"
    }
    #expect(check(head(HeadCheck.longest)) == .good(HeadCheck.longest))
    #expect(status(head(HeadCheck.longest + 1)) == 431)
    guard case .refused(431, let request) = check(String(head(HeadCheck.longest + 9).dropLast(4))) else {
      Issue.record("not refused")
      return
    }
    #expect(request.target.path == "/api" && request.wantsJSON, "the answer has the requested form")
  }

  @Test(
    "a malformed head is refused with its status",
    arguments: [
      ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
      ("nonsense\r\n\r\n", 400), ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
      ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505), ("GET / FTP/1.1\r\nHost: x\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: x\r\n A: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400), ("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999999999999\r\n\r\n", 413),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
    ])
  func malformed(head: String, expected: Int) { #expect(status(head) == expected) }
}
