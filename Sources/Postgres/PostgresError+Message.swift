// Messages for errors of PostgreSQL, in English and Korean.
// Invariant: a message is one line with the failure, its object, the reason, and a remedy if there is one. In Korean
// no particle follows an inserted word.
import BankModel

extension PostgresError {
  /// Localised message, such as `PostgreSQL (postgres://bank@db/bank): …`.
  public func message(in language: Language) -> String {
    let message = language == .korean ? korean : english
    return place.isEmpty ? "PostgreSQL: \(message)" : "PostgreSQL (\(place)): \(message)"
  }

  private var english: String {
    switch reason {
    case .invalidURL(let why):
      return "this is not a PostgreSQL URL\(suffix(why)); write postgres://USER@HOST:PORT/DATABASE"
    case .passwordInURL:
      return
        "the address contains a password, which `ps` and logs show; remove it and put it into ~/.pgpass "
        + "(HOST:PORT:DATABASE:USER:PASSWORD, mode 0600) or a service file (postgres:///?service=NAME)"
    case .unreachable(let why):
      return "no connection\(suffix(why)); check that the server runs and listens there"
    case .passwordMissing:
      return
        "the server requires a password, and none was found; put it into ~/.pgpass (HOST:PORT:DATABASE:USER:PASSWORD, "
        + "mode 0600) or a service file"
    case .accessDenied(let why):
      return "the server does not admit this user\(suffix(why)); check the user's permissions and pg_hba.conf"
    case .noDatabase(let why):
      return "there is no such database\(suffix(why)); create it, or use another one"
    case .noReply(let milliseconds):
      return "no response for \(milliseconds) ms; check whether the server or the network is stuck"
    case .pooler:
      return
        "a pooler such as PgBouncer responds instead of the server; it loses prepared statements, LISTEN and the "
        + "settings of a session between transactions, so use the address of the server itself"
    case .standby:
      return
        "this server is a read-only standby; use the primary's address, or those of all servers: "
        + "postgres://USER@HOST1,HOST2/DATABASE"
    case .tooOld(let version, let least):
      return "this is PostgreSQL \(version / 10_000), and \(least / 10_000) or newer is needed; upgrade it"
    case .encoding(let encoding):
      return
        "the database has the encoding \(Self.oneLine(encoding)), which cannot store all text; create it with UTF8: "
        + "CREATE DATABASE bank ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0"
    case .noBankSchema:
      return
        "the database does not contain the bank that this branch knows: it was replaced by another one, and no new "
        + "bank is created; restore it\(Self.deleteHint)"
    case .otherDatabase:
      return
        "the database contains a different bank than this branch knows, and it is not used; restore the previous "
        + "database"
        + Self.deleteHint
    case .otherServer:
      return
        "another server has the same database, while the one that this branch uses still responds; it is not used, so "
        + "stop one of them"
    case .formerServer(let timeline, let known):
      return
        "this server is on timeline \(timeline), and another one has taken over from it on timeline \(known); it is not used, "
        + "so stop it, or make it follow the other one (pg_rewind)"
    case .multiplePrimaries:
      return
        "several of these servers accept changes, and none of them follows another; use the address of the one with "
        + "the bank"
    case .lost(let why):
      return "the connection was lost\(suffix(why)); requests in progress may or may not have taken effect"
    case .refused("25006", _):
      return
        "the database is read-only now (default_transaction_read_only), as when its disk is nearly full; the branch "
        + "waits until it accepts changes again"
    case .refused(let state, let message):
      return
        "the server rejected it: \(Self.oneLine(message)) (SQLSTATE \(state)); nothing has taken effect"
    case .tooLarge(let limit):
      return "a result exceeds the limit of \(limit) bytes; request less at a time"
    case .full: return "too many requests are in progress; try again after a response"
    case .closed:
      return "the connection was closed here; requests in progress may or may not have taken effect"
    case .unexpectedReply(let what):
      return "the server sent an unexpected response\(suffix(what)); check that it is a PostgreSQL server"
    }
  }

  private var korean: String {
    switch reason {
    case .invalidURL(let why):
      return "데이터베이스 주소가 아닙니다\(suffix(why)). postgres://사용자@호스트:포트/데이터베이스 형식으로 쓰세요"
    case .passwordInURL:
      return "주소에 비밀번호가 있으면 `ps`와 로그에 보입니다. 주소에서 빼고 ~/.pgpass"
        + "(호스트:포트:데이터베이스:사용자:비밀번호, 모드 0600)나 서비스 파일(postgres:///?service=이름)에 넣으세요"
    case .unreachable(let why):
      return "연결하지 못했습니다\(suffix(why)). 서버가 실행되어 그 주소에서 기다리는지 확인하세요"
    case .passwordMissing:
      return "서버가 비밀번호를 요구하는데 비밀번호가 없습니다. ~/.pgpass(호스트:포트:데이터베이스:사용자:비밀번호, 모드 0600)나 "
        + "서비스 파일에 넣으세요"
    case .accessDenied(let why):
      return "서버가 이 사용자를 받아들이지 않습니다\(suffix(why)). 사용자의 권한과 pg_hba.conf를 확인하세요"
    case .noDatabase(let why):
      return "그런 데이터베이스가 없습니다\(suffix(why)). 만들거나 다른 이름을 쓰세요"
    case .noReply(let milliseconds):
      return "\(milliseconds)밀리초 동안 응답이 없습니다. 서버나 네트워크에 문제가 있는지 확인하세요"
    case .pooler:
      return "서버 대신 PgBouncer 같은 풀러가 응답합니다. 풀러는 트랜잭션 사이에 준비된 문장, LISTEN, 세션 설정을 잃으므로 "
        + "서버의 주소를 직접 쓰세요"
    case .standby:
      return "변경을 받지 않는 대기 서버입니다. 주 서버의 주소나 모든 서버의 주소를 쓰세요: "
        + "postgres://사용자@호스트1,호스트2/데이터베이스"
    case .tooOld(let version, let least):
      return "PostgreSQL \(version / 10_000)입니다. \(least / 10_000) 이상이 필요하니 업그레이드하세요"
    case .encoding(let encoding):
      return "데이터베이스의 인코딩(\(Self.oneLine(encoding)))으로 저장하지 못하는 글자가 있습니다. UTF8로 만드세요: "
        + "CREATE DATABASE bank ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0"
    case .noBankSchema:
      return
        "이 지점이 알던 은행이 데이터베이스에 없습니다. 다른 데이터베이스로 바뀐 것이므로 새 은행을 만들지 않습니다. 데이터베이스를 복원하세요\(Self.deleteHintInKorean)"
    case .otherDatabase:
      return "데이터베이스의 은행이 이 지점이 알던 은행이 아니므로 쓰지 않습니다. 이전 데이터베이스를 복원하세요" + Self.deleteHintInKorean
    case .otherServer:
      return "이 지점이 쓰는 서버가 응답하는데 다른 서버에도 같은 데이터베이스가 있습니다. 다른 서버는 쓰지 않으니 둘 중 하나를 멈추세요"
    case .formerServer(let timeline, let known):
      return "다른 서버가 이 서버를 이어받았으므로(타임라인 \(timeline) → \(known)) 이 서버는 쓰지 않습니다. 멈추거나 새 서버를 "
        + "따르게 하세요(pg_rewind)"
    case .multiplePrimaries:
      return "변경을 받는 서버가 둘 이상이고 서로 이어받은 사이가 아닙니다. 은행이 있는 서버의 주소를 쓰세요"
    case .lost(let why):
      return "연결이 끊어졌습니다\(suffix(why)). 진행 중이던 일은 반영되었을 수도, 아닐 수도 있습니다"
    case .refused("25006", _):
      return "데이터베이스가 지금 변경을 받지 않습니다(default_transaction_read_only). 디스크가 거의 찬 서버가 그렇게 합니다. 지점은 "
        + "다시 받을 때까지 기다립니다"
    case .refused(let state, let message):
      return "서버가 거절했습니다: \(Self.oneLine(message)) (SQLSTATE \(state)). 반영된 것은 없습니다"
    case .tooLarge(let limit):
      return "결과가 한도인 \(limit)바이트보다 큽니다. 한 번에 더 적게 요청하세요"
    case .full: return "진행 중인 일이 많아 더 받지 않습니다. 응답이 온 뒤에 다시 시도하세요"
    case .closed: return "연결을 닫았습니다. 진행 중이던 일은 반영되었을 수도, 아닐 수도 있습니다"
    case .unexpectedReply(let what):
      return "서버가 예상하지 못한 응답을 보냈습니다\(suffix(what)). PostgreSQL 서버인지 확인하세요"
    }
  }

  /// Remedy if the database was replaced on purpose.
  private static let deleteHint =
    ", or delete the file run/database in the home of the branch to start with the present database"
  /// Korean form of ``deleteHint``.
  private static let deleteHintInKorean = ". 지금 있는 데이터베이스로 시작하려면 지점 홈의 run/database 파일을 지우세요"

  /// A colon and the message on one line; empty for an empty message.
  private func suffix(_ message: String) -> String { message.isEmpty ? "" : ": \(Self.oneLine(message))" }

  /// Joins the lines of a text of the server or the library, removes control characters and limits the length.
  static func oneLine(_ message: String) -> String {
    let lines = message.split { $0.isNewline }.map { line in
      String(String.UnicodeScalarView(line.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }))
        .drop { $0 == " " }
    }
    return String(lines.joined(separator: "; ").prefix(400))
  }
}

extension PostgresError: CustomStringConvertible {
  /// The English message.
  public var description: String { message(in: .english) }
}
