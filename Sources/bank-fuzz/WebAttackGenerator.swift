// Attacks on the server of the web page: valid, nearly valid and invalid requests.
// Invariant: an attack depends on the seed, its number and the port of the server. None contains the word `reset`,
// because a reset would remove all customers.
import BankModel

/// Draws attacks on the web server.
enum WebAttackGenerator {
  /// Returns the attack that the seed and the number determine. `port` is for the server's name in requests.
  static func attack(seed: UInt64, number: UInt64, port: Int64) -> Attack {
    var chance = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ number)
    var bytes: [UInt8] = []
    let count = chance.draw(1...5)
    for _ in 0..<count { bytes += request(&chance, port) }
    if chance.draw(0...2) == 0 { bytes = changed(bytes, &chance) }
    if chance.draw(0...9) == 0 {
      bytes = (0..<chance.draw(1...900)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
    }
    if chance.draw(0...5) == 0 { bytes.removeLast(min(bytes.count, Int(chance.draw(1...60)))) }
    let text = String(decoding: bytes, as: UTF8.self)
    if text.contains("reset") || text.contains("%72") { bytes = Array("GET / HTTP/1.1\r\n".utf8) }
    let attackKind =
      Attack.AttackKind(rawValue: [0, 0, 1, 1, 1, 1, 2, 2, 3][Int(chance.draw(0...8))]) ?? .cut
    return Attack(portions: Attack.cut(bytes, &chance), attackKind: attackKind, messages: Int(count))
  }

  /// Paths of GET and HEAD requests, valid or not.
  private static let paths = [
    "/", "/kiosk", "/lobby", "/juice", "/juice/stock", "/vending", "/vending/admin", "/windows", "/services",
    "/dead",
    "/tickets", "/receipts", "/audit", "/ledger", "/ticket/1", "/ticket/9223372036854775807",
    "/windows/deposit-1/log", "/windows/..%2F..%2Fbank.db/log", "/assets/page.css", "/assets/../bank.db",
    "/login?token=0", "/events?page=/", "/events?page=/tickets%3Fstate=dead",
    "/events?page=%2Fticket%2F1&lang=ko",
    "/api/v1/status", "/api/v1/tickets?limit=3&after=0", "/api/v1/tickets/1", "/api/v1/receipts?limit=10000",
    "/api/v1/stock", "/api/v1/vending", "/api/v1/vending/history", "/api/v1/ledger", "/api/v1/accounts/1",
  ]

  /// Paths and bodies of POST requests, valid or not.
  private static let orders: [(path: String, body: String)] = [
    ("/api/v1/customers", #"{"count":2,"service":"deposit"}"#), ("/api/v1/customers", #"{"count":-1}"#),
    ("/api/v1/customers", #"{"payload":"x","service":"loan","grade":"vip"}"#),
    ("/api/v1/juice", #"{"juice":"kiwi"}"#),
    ("/api/v1/stock", #"{"item":"kiwi","quantity":10}"#),
    ("/api/v1/stock", #"{"item":"kiwi","change":-9223372036854775808}"#),
    ("/api/v1/vending/insert", #"{"amount":1000}"#), ("/api/v1/vending/buy", #"{"product":"top"}"#),
    ("/api/v1/vending/return", "{}"), ("/api/v1/cancel", #"{"tickets":[1,2,3]}"#),
    ("/api/v1/requeue", #"{"tickets":[]}"#), ("/customers", "count=3&key=a&from=bank"),
    ("/customers", "count=9999999999999"),
    ("/tickets/cancel", "ticket=1&ticket=2&confirmed=2"), ("/tickets/requeue", "all=1"),
    ("/juice", "juice=banana&key=b"),
    ("/stock", "item=kiwi&change=1&key=c"), ("/vending/insert", "amount=1&key=d"),
    ("/vending/admin/login", "code=00000000"),
    ("/vending/admin/add", "product=top&count=1&key=e"), ("/language", "lang=ko&back=//evil"),
    ("/theme", "theme=dark&back=/"),
    ("/windows/end", "window=deposit-1&generation=1&pid=1"), ("/links", ""),
  ]

  /// Draws one HTTP request.
  private static func request(_ chance: inout SeededGenerator, _ port: Int64) -> [UInt8] {
    let host = ["127.0.0.1:\(port)", "127.0.0.1:\(port)", "localhost", "evil.example.org"][
      Int(chance.draw(0...3))]
    var head = ["Host: \(host)"]
    if chance.draw(0...2) == 0 { head.append("Accept: application/json") }
    if chance.draw(0...3) == 0 { head.append("Accept-Language: ko;q=0.\(chance.draw(0...99))") }
    if chance.draw(0...5) == 0 { head.append("Last-Event-ID: \(chance.draw(0...9))-\(chance.draw(-2...9))") }
    if chance.draw(0...5) == 0 { head.append("Cookie: bank-\(port)=0; bank-lang=ko;;=") }
    if chance.draw(0...9) == 0 { head.append(oddities[Int(chance.draw(0...Int64(oddities.count - 1)))]) }
    guard chance.draw(0...2) == 0 else {
      let path = paths[Int(chance.draw(0...Int64(paths.count - 1)))]
      let method = chance.draw(0...9) == 0 ? "HEAD" : "GET"
      return Array("\(method) \(path) HTTP/1.1\r\n\(head.joined(separator: "\r\n"))\r\n\r\n".utf8)
    }
    let order = orders[Int(chance.draw(0...Int64(orders.count - 1)))]
    if chance.draw(0...1) == 0 { head.append("Origin: http://\(host)") }
    if chance.draw(0...2) == 0 { head.append("Idempotency-Key: k\(chance.draw(0...99))") }
    if chance.draw(0...5) == 0 {
      let length = String(order.body.utf8.count, radix: 16)
      head.append("Transfer-Encoding: chunked")
      return Array(
        "POST \(order.path) HTTP/1.1\r\n\(head.joined(separator: "\r\n"))\r\n\r\n\(length)\r\n\(order.body)\r\n0\r\n\r\n"
          .utf8)
    }
    head.append("Content-Length: \(order.body.utf8.count)")
    return Array("POST \(order.path) HTTP/1.1\r\n\(head.joined(separator: "\r\n"))\r\n\r\n\(order.body)".utf8)
  }

  /// Header lines that are unusual or invalid.
  private static let oddities = [
    "Host: other", "Host : x", "Content-Length: 99999999999999999999", "Content-Length: -1",
    "Transfer-Encoding: gzip",
    "Expect: 100-continue", "Connection: close", "Upgrade: websocket",
    "X: " + String(repeating: "y", count: 9_000), ": z",
    "\tfolded: a", "Range: bytes=0-1",
  ]

  /// Returns the bytes with a few random changes.
  private static func changed(_ bytes: [UInt8], _ chance: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<chance.draw(1...4) where !bytes.isEmpty {
      let place = Int(chance.draw(0...Int64(bytes.count - 1)))
      switch chance.draw(0...4) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
      case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int(chance.draw(1...16))))
      case 2: bytes.insert(contentsOf: Array("%00%ff\r\n&=;\u{7f}".utf8), at: place)
      case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 40)], at: place)
      default: bytes[place] ^= 1 << UInt8(chance.draw(0...7))
      }
    }
    return bytes
  }
}
