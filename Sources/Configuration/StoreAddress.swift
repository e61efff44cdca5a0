// Owns what may be said of where books are that several branches share, before anybody connects: whether it is an address of a
// PostgreSQL database at all, and that nothing secret stands in it. Whoever connects reads it again with the library's own
// reader; this one needs no library, so every program can refuse what is wrong.
// Invariant: an address holds no password, so it may be shown, logged and handed to a process. No fault repeats what was written.

import BankModel

/// The address of books that several branches share, such as `postgres://bank@db1,db2/bank?sslmode=verify-full`.
///
/// Passwords come from `~/.pgpass` or a service file (`postgres:///?service=NAME`).
/// Source: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
public struct StoreAddress: Sendable, Hashable, CustomStringConvertible {
  /// Why a text is refused. It is never shown: whoever has mistyped an address may have written a password.
  public enum Fault: Error, Sendable, Hashable, CaseIterable {
    /// It does not begin with `postgres://` or `postgresql://`, or holds what no address does.
    case notAnAddress
    /// A password stands in it, or something that may be one.
    case password
    /// What stands behind the colon of a host is no port.
    case port
  }

  /// The address as it was written.
  public let description: String

  /// The longest address, in bytes.
  public static let longest = 2_048

  /// Reads an address.
  public init(_ text: String) throws(Fault) {
    guard
      let rest = ["postgres://", "postgresql://"].first(where: text.hasPrefix).map({
        text.dropFirst($0.count)
      })
    else { throw .notAnAddress }
    let authority = rest.prefix { !"/?#".contains($0) }
    let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
    let query = rest.dropFirst(authority.count + path.count).dropFirst()
    // A password with a slash in it ends the authority too early; no name of a database or a host has this sign.
    guard !(path.contains("@") && !authority.contains("@")) else { throw .password }
    let user = authority.lastIndex(of: "@").map { authority[..<$0] } ?? ""
    guard !user.contains(":"), !Self.namesSecret(query) else { throw .password }
    let isPlain = text.unicodeScalars.allSatisfy {
      $0 != " " && ![.control, .format].contains($0.properties.generalCategory)
    }
    guard isPlain, text.utf8.count <= Self.longest else { throw .notAnAddress }
    let hosts = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    guard hosts.split(separator: ",").allSatisfy(Self.hasGoodPort) else { throw .port }
    description = text
  }

  /// What the library calls a secret of a connection.
  private static let secrets: Set = [
    "password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret",
  ]

  private static func namesSecret(_ query: Substring) -> Bool {
    query.split(whereSeparator: { "&;?".contains($0) }).contains { part in
      let name = decoded(part.prefix { $0 != "=" }).lowercased()
      return secrets.contains { name.contains($0) }
    }
  }

  /// A name without its percent signs, under which the library would find it all the same.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// An address of IPv6 stands in brackets, with colons of its own.
  private static func hasGoodPort(_ host: Substring) -> Bool {
    let name = host.lastIndex(of: "]").map { host[host.index(after: $0)...] } ?? host
    guard let colon = name.firstIndex(of: ":") else { return true }
    let port = name[name.index(after: colon)...]
    return port.isEmpty
      || port.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(port).map { $0 > 0 } == true
  }
}

extension StoreAddress.Fault {
  /// What is wrong, and what to do, as the rest of a sentence that begins with what was read: `… holds a password, …`.
  public func message(in language: Language) -> String {
    language == .korean ? korean : english
  }

  private var english: String {
    switch self {
    case .notAnAddress:
      "is no address of a PostgreSQL database; write postgres://USER@HOST:PORT/DATABASE"
    case .password:
      "holds a password, which 'ps' and logs would show; take it out, and put it into ~/.pgpass "
        + "(HOST:PORT:DATABASE:USER:PASSWORD, mode 0600) or a service file (postgres:///?service=NAME)"
    case .port:
      "has a port that is none; write a number from 1 to 65535 behind the colon: postgres://USER@HOST:5432/DATABASE"
    }
  }

  private var korean: String {
    switch self {
    case .notAnAddress:
      "값이 PostgreSQL 데이터베이스의 주소가 아닙니다. postgres://사용자@호스트:포트/데이터베이스 형식으로 쓰세요"
    case .password:
      "값에 비밀번호가 들어 있습니다. 'ps'와 로그에 보이니 지우고 ~/.pgpass(호스트:포트:데이터베이스:사용자:비밀번호, 권한 0600)나 서비스 파일"
        + "(postgres:///?service=이름)에 쓰세요"
    case .port: "값의 포트가 올바르지 않습니다. 콜론 뒤에 1부터 65535까지의 숫자를 쓰세요: postgres://사용자@호스트:5432/데이터베이스"
    }
  }
}
