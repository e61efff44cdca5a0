// Build identity for tests that speak the protocol themselves.
import Testing

extension ScratchBank {
  /// Build identity that a teller has to send. The coordinator sends it to every client.
  func build() throws -> String {
    let client = try RawClient(self)
    client.send(Message.hello().frame)
    let welcome = try #require(client.listen(until: 1).frames.first)
    // A map of one field, 1, with a map of the version and the build; the length of its text takes one or two bytes.
    let head = try #require(welcome.firstIndex(of: 0x02))
    let text = welcome[(head + 1)...]
    return String(decoding: text.dropFirst((text.first ?? 0) >= 0x78 ? 2 : 1), as: UTF8.self)
  }
}
