// Syntax check of the address of a shared database, before any connection: it must be a PostgreSQL URI without
// secrets. The check does not use libpq, so a program without libpq can refuse a wrong address.
// Invariant: an address contains no password, so it may be shown, logged and passed to a process. No error
// repeats the input.

import BankModel

/// Address of a shared database, such as `postgres://bank@db1,db2/bank?sslmode=verify-full`.
///
/// libpq reads passwords from `~/.pgpass` or a service file (`postgres:///?service=NAME`). Source:
/// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
public struct StoreAddress: Sendable, Hashable, CustomStringConvertible {
  /// Reason for refusing an address. The address itself is not shown, because a mistyped one may contain
  /// a password.
  public enum Fault: Error, Sendable, Hashable, CaseIterable {
    /// Text that does not start with `postgres://` or `postgresql://`, is too long, or contains an invalid
    /// character.
    case notAnAddress
    /// Password, or a part that may be one.
    case password
    /// Invalid port after the colon of a host.
    case port
  }

  /// The address as written.
  public let description: String

  /// Maximum length in bytes.
  public static let longest = 2_048

  /// Parses an address.
  public init(_ text: String) throws(Fault) {
    guard
      let rest = ["postgres://", "postgresql://"].first(where: text.hasPrefix).map({
        text.dropFirst($0.count)
      })
    else { throw .notAnAddress }
    // libpq looks for this "@" before it looks for the query, so user and password may contain "?" and "#".
    let end = rest.prefix { $0 != "/" }.lastIndex(of: "@")
    let user = end.map { rest[..<$0] } ?? ""
    let place = end.map { rest[rest.index(after: $0)...] } ?? rest
    let hosts = place.prefix { !"/?#".contains($0) }
    let path = place.dropFirst(hosts.count).prefix { $0 != "?" }
    let query = place.dropFirst(hosts.count + path.count).dropFirst()
    // A slash in a password ends the search for the "@" too early. A "@" in the path suggests this case, because names
    // of databases seldom contain "@".
    guard end != nil || !path.contains("@") else { throw .password }
    guard !user.contains(":"), !Self.namesSecret(query) else { throw .password }
    let isPlain = text.unicodeScalars.allSatisfy {
      $0 != " " && ![.control, .format].contains($0.properties.generalCategory)
    }
    guard isPlain, text.utf8.count <= Self.longest else { throw .notAnAddress }
    guard hosts.split(separator: ",").allSatisfy(Self.hasGoodPort) else { throw .port }
    description = text
  }

  /// libpq parameters that are secrets.
  private static let secrets: Set = [
    "password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret",
  ]

  /// True if the query of an address has a parameter that is a secret.
  private static func namesSecret(_ query: Substring) -> Bool {
    query.split(whereSeparator: { "&;?".contains($0) }).contains { part in
      let name = decoded(part.prefix { $0 != "=" }).lowercased()
      return secrets.contains { name.contains($0) }
    }
  }

  /// A percent-decoded name, because libpq decodes names too.
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

  /// True if the port is valid or absent. An IPv6 address is in brackets, because it contains colons itself.
  private static func hasGoodPort(_ host: Substring) -> Bool {
    let name = host.lastIndex(of: "]").map { host[host.index(after: $0)...] } ?? host
    guard let colon = name.firstIndex(of: ":") else { return true }
    let port = name[name.index(after: colon)...]
    return port.isEmpty
      || port.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(port).map { $0 > 0 } == true
  }
}

extension StoreAddress.Fault {
  /// Reason and remedy, as the rest of a sentence that starts with the source of the address: `… contains a
  /// password, …`.
  public func message(in language: Language) -> String {
    language == .korean ? korean : english
  }

  private var english: String {
    switch self {
    case .notAnAddress:
      "is not a PostgreSQL URL; write postgres://USER@HOST:PORT/DATABASE"
    case .password:
      "contains a password, which 'ps' and logs would show; remove it and put it into ~/.pgpass "
        + "(HOST:PORT:DATABASE:USER:PASSWORD, mode 0600) or a service file (postgres:///?service=NAME)"
    case .port:
      "has an invalid port; write a number from 1 to 65535 after the colon: postgres://USER@HOST:5432/DATABASE"
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
