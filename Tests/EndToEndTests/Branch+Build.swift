// How a test that speaks the protocol itself learns the name of the build that it has to give.
import Testing

extension Branch {
  /// The build that a teller has to name, as the coordinator names it to any client.
  func build() throws -> String {
    let client = try RawClient(self)
    client.send(Message.hello().frame)
    let welcome = try #require(client.listen(until: 1).frames.first)
    // A map of one field, 1, with a map of the version and the build, whose text has a length of one or two bytes.
    let head = try #require(welcome.firstIndex(of: 0x02))
    let text = welcome[(head + 1)...]
    return String(decoding: text.dropFirst((text.first ?? 0) >= 0x78 ? 2 : 1), as: UTF8.self)
  }
}
