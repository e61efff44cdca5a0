// Owns the beginning with a database: finding out which version its books have, and bringing them to the present one. Several
// branches may do so at the same moment: each migration is one transaction behind a lock, and whoever comes second is refused
// by the database, looks again and finds the work done.
// Failure: books of a newer version, or a schema `bank` of somebody else's, are left as they are.
import BankModel
import Postgres

/// Brings the books of a database to the present version.
public final class PostgresPreparation {
  /// Why the books cannot be used.
  public enum Failure: Error, Sendable, Hashable {
    /// A newer program has made them.
    case newer(version: Int64, known: Int64)
    /// There is a schema `bank` that is not ours.
    case foreign
    /// A branch with an older program is open, or has gone and was not fenced; nothing was changed.
    case inUse(version: Int64)
    /// The database has not let it be done, or the connection was lost; what was begun has had no effect, or the next
    /// beginning finds it done.
    case failed(PostgresError)
  }

  /// What came of it: the version that the books had before (0 for none), or why they cannot be used.
  public typealias Finish = (Result<Int64, Failure>) -> Void

  private let connection: PostgresConnection
  private let finish: Finish
  private var former: Int64?
  /// Refusals in a row without another version.
  private var refusals = 0

  private init(_ connection: PostgresConnection, _ finish: @escaping Finish) {
    self.connection = connection
    self.finish = finish
  }

  /// Begins, on a connection that is ready.
  public static func begin(on connection: PostgresConnection, _ finish: @escaping Finish) {
    // What is under way keeps it alive.
    PostgresPreparation(connection, finish).look()
  }

  private func look() {
    send([.once("SELECT to_regnamespace('bank') IS NOT NULL, to_regclass('bank.version') IS NOT NULL")]) {
      results in
      guard let hasSchema = results[0].boolean(0, 0), let isOurs = results[0].boolean(0, 1) else {
        return self.strange()
      }
      if isOurs {
        self.readVersion()
      } else if hasSchema {
        self.finish(.failure(.foreign))
      } else {
        self.go(from: 0)
      }
    }
  }

  private func readVersion() {
    send([.once("SELECT number FROM bank.version")]) { results in
      guard results[0].count == 1, let version = results[0].integer(0, 0) else {
        return self.finish(.failure(.foreign))
      }
      self.go(from: version)
    }
  }

  private func go(from version: Int64) {
    former = former ?? version
    guard version <= PostgresSchema.version else {
      return finish(.failure(.newer(version: version, known: PostgresSchema.version)))
    }
    guard version < PostgresSchema.version else { return finish(.success(former ?? version)) }
    let segment = PostgresSchema.migration(to: version + 1).map { PostgresCall.once($0) }
    send(
      segment,
      refused: { error in
        if error.sqlState == PostgresSchema.inUse { return self.finish(.failure(.inUse(version: version))) }
        self.refusals += 1
        // Another branch was sooner: 42P06, 42P07 and 23505 for a schema that is there, and our own word for a version.
        let isOvertaken = ["42P06", "42P07", "23505", PostgresSchema.otherVersion].contains(
          error.sqlState ?? "")
        // Others can be sooner once a version, one after the other.
        if isOvertaken, self.refusals <= PostgresSchema.migrations.count {
          self.look()
        } else {
          self.finish(.failure(.failed(error)))
        }
      }
    ) { _ in
      self.refusals = 0
      self.go(from: version + 1)
    }
  }

  private func send(
    _ segment: [PostgresCall], refused: ((PostgresError) -> Void)? = nil,
    _ next: @escaping ([PostgresRows]) -> Void
  ) {
    do throws(PostgresError) {
      try connection.send(segment) { outcome in
        switch outcome {
        case .done(let rows): next(rows)
        case .refused(let error):
          if let refused { refused(error) } else { self.finish(.failure(.failed(error))) }
        case .unknown(let error): self.finish(.failure(.failed(error)))
        }
      }
    } catch { finish(.failure(.failed(error))) }
  }

  private func strange() {
    finish(.failure(.failed(PostgresError(.strange("its answer about the schema"), at: ""))))
  }

  /// Makes room for what is kept of a day. To be there already is no error.
  public static func partition(for day: Int64) -> PostgresRequest<Void> {
    // Two that make the same table at once would hinder each other.
    PostgresRequest(
      segment: [.once(PostgresSchema.lockMigration)] + PostgresSchema.partitions(day).map { .once($0) }
    ) { _ in () }
  }
}

extension PostgresPreparation.Failure {
  /// The sentence for people.
  public func message(in language: Language) -> String {
    switch (self, language) {
    case (.newer(let version, let known), .english):
      "the books in the database are of version \(version), and this program knows \(known); use the program that made "
        + "them, or a newer one"
    case (.newer(let version, let known), .korean):
      "데이터베이스의 장부 버전이 \(version)인데 이 프로그램은 \(known)까지만 압니다. 장부를 만든 프로그램이나 더 새로운 프로그램을 쓰세요"
    case (.inUse(let version), .english):
      "the books in the database are of version \(version), and a branch with an older program is open or was not closed; "
        + "stop all branches with that program (bankctl stop), and then start this one"
    case (.inUse(let version), .korean):
      "데이터베이스의 장부 버전이 \(version)이고, 이전 프로그램으로 연 지점이 열려 있거나 닫히지 않았습니다. 그 프로그램으로 모든 지점을 닫은"
        + " 다음(bankctl stop) 이 프로그램으로 여세요"
    case (.foreign, .english):
      "the database has a schema `bank` that this program has not made; name another database, or rename that schema"
    case (.foreign, .korean):
      "데이터베이스에 이 프로그램이 만들지 않은 `bank` 스키마가 있습니다. 다른 데이터베이스를 쓰거나 그 스키마의 이름을 바꾸세요"
    case (.failed(let error), _): error.message(in: language)
    }
  }
}
