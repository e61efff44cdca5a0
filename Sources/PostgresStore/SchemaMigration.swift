// Schema migration: determines the version of the database and brings it to the present one. Several branches may
// migrate concurrently. Each migration is one transaction under a lock. The database refuses the second branch, which
// reads the version again and finds the work done.
// Errors: a database of a newer version, and a schema `bank` of another program, stay unchanged.
import BankModel
import Postgres

/// Migration of a database to the present schema version.
public final class SchemaMigration {
  /// Reason why the database cannot be used.
  public enum Failure: Error, Sendable, Hashable {
    /// A newer program has created or migrated the database.
    case newer(version: Int64, known: Int64)
    /// The schema `bank` belongs to another program.
    case foreign
    /// A branch with an older program is open, or has exited and still has claims. The migration changed nothing.
    case inUse(version: Int64)
    /// The database refused, or the connection was lost. The started migration had no effect, or the next start finds
    /// it done.
    case failed(PostgresError)
  }

  /// Called with the version before the migration (0 for none), or the failure.
  public typealias Completion = (Result<Int64, Failure>) -> Void

  private let connection: PostgresConnection
  private let finish: Completion
  /// Version before the first migration by this object; nil before it is known.
  private var former: Int64?
  /// Refusals since the last migration by this object.
  private var refusals = 0

  private init(_ connection: PostgresConnection, _ finish: @escaping Completion) {
    self.connection = connection
    self.finish = finish
  }

  /// Starts the migration on a connected connection.
  public static func begin(on connection: PostgresConnection, _ finish: @escaping Completion) {
    // Pending requests keep the object alive.
    SchemaMigration(connection, finish).checkSchema()
  }

  /// Determines whether the database has a schema of a bank, and continues with its version.
  private func checkSchema() {
    send([.once("SELECT to_regnamespace('bank') IS NOT NULL, to_regclass('bank.version') IS NOT NULL")]) {
      results in
      guard let hasSchema = results[0].boolean(0, 0), let isOurs = results[0].boolean(0, 1) else {
        return self.unexpectedReply()
      }
      if isOurs {
        self.readVersion()
      } else if hasSchema {
        self.finish(.failure(.foreign))
      } else {
        self.migrate(from: 0)
      }
    }
  }

  /// Reads the version of the schema, and migrates from it.
  private func readVersion() {
    send([.once("SELECT number FROM bank.version")]) { results in
      guard results[0].count == 1, let version = results[0].integer(0, 0) else {
        return self.finish(.failure(.foreign))
      }
      self.migrate(from: version)
    }
  }

  /// Migrates step by step from this version to the newest one, and then reports success.
  private func migrate(from version: Int64) {
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
        // Another branch was faster: 42P06, 42P07 and 23505 for an existing schema, `otherVersion` for a changed
        // version.
        let isOvertaken = ["42P06", "42P07", "23505", PostgresSchema.otherVersion].contains(
          error.sqlState ?? "")
        // Other branches can be faster once per version.
        if isOvertaken, self.refusals <= PostgresSchema.migrations.count {
          self.checkSchema()
        } else {
          self.finish(.failure(.failed(error)))
        }
      }
    ) { _ in
      self.refusals = 0
      self.migrate(from: version + 1)
    }
  }

  /// Sends a segment. `next` receives its rows; a failure ends the migration unless `refused` handles it.
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

  /// Ends the migration, because a result had an unexpected shape.
  private func unexpectedReply() {
    finish(.failure(.failed(PostgresError(.unexpectedReply("its response about the schema"), at: ""))))
  }

  /// Request that creates the partitions of a day. Existing ones are not an error.
  public static func partition(for day: Int64) -> PostgresRequest<Void> {
    // The lock serialises the creation, because concurrent creation of the same table would fail.
    PostgresRequest(
      segment: [.once(PostgresSchema.lockMigration)] + PostgresSchema.partitions(day).map { .once($0) }
    ) { _ in () }
  }
}

extension SchemaMigration.Failure {
  /// Localised error message.
  public func message(in language: Language) -> String {
    switch (self, language) {
    case (.newer(let version, let known), .english):
      "the bank's database has schema version \(version), and this program supports up to \(known); use the program "
        + "that created it, or a newer one"
    case (.newer(let version, let known), .korean):
      "데이터베이스의 스키마 버전이 \(version)인데 이 프로그램은 \(known)까지만 지원합니다. 그것을 만든 프로그램이나 더 새로운 프로그램을 쓰세요"
    case (.inUse(let version), .english):
      "the bank's database has schema version \(version), and a branch of an older program is open or was not closed; "
        + "stop all branches with that program (bankctl stop), and then start this one"
    case (.inUse(let version), .korean):
      "데이터베이스의 스키마 버전이 \(version)이고, 이전 프로그램으로 연 지점이 열려 있거나 닫히지 않았습니다. 그 프로그램으로 모든 지점을 닫은"
        + " 다음(bankctl stop) 이 프로그램으로 여세요"
    case (.foreign, .english):
      "the database has a schema `bank` of another application; use another database, or rename that schema"
    case (.foreign, .korean):
      "데이터베이스에 이 프로그램이 만들지 않은 `bank` 스키마가 있습니다. 다른 데이터베이스를 쓰거나 그 스키마의 이름을 바꾸세요"
    case (.failed(let error), _): error.message(in: language)
    }
  }
}
