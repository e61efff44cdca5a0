// Check that the databases of the services are those that the bank has recorded, and the records about these databases.
// Invariant: a database records the present opening only if it matches, if the mismatch can be intended, or if the
// operator has accepted the mismatch by `reload`. The bank stores its own record after that, as soon as nothing is
// staged. The record is omitted if the disk is full then.

import BankModel
import QueueCore
import Storage
import Time
import Wire

final class DatabaseMarks: BankPart {
  /// Records to be stored, by service name.
  private var notes: [String: KnownDatabase] = [:]

  /// Mark of this opening, which the databases of the services record.
  private var mark: BankMark {
    BankMark(books: context.booksName.number, opening: context.incarnation, openedAt: context.openedAt.wall)
  }

  /// Handles the mark of a service's database. Called before the service is ready, and again after its database
  /// has recorded this opening.
  func hear(_ database: DatabaseMark, from post: SupervisedService) {
    guard let memory = context.bindings.memory, !context.isCutOff else { return }
    let name = post.specification.name
    do throws(StoreError) {
      if database.bank == mark {
        notes[name] = KnownDatabase(identity: database.identity, opening: context.incarnation)
        return keep()
      }
      let mismatch = try DatabaseMismatch.find(database, of: name, books: context.booksName, memory)
      let isProblem = mismatch?.isProblem == true && !post.isAccepted
      // The status and audits contain no mismatch for a new database of a restarted service: the file was moved away
      // while the bank was open.
      post.mismatch = mismatch == .newDatabase && post.generation > 1 || post.isAccepted ? nil : mismatch
      if let mismatch { write(mismatch, of: name) }
      if !isProblem { serviceSupervisor.say(.bank(mark), to: post) }
    } catch { queue.fail(error) }
  }

  var mismatched: [SupervisedService] { serviceSupervisor.posts.filter { $0.mismatch?.isProblem == true } }

  /// Logs the mismatches again after a reload by a signal, whose sender receives no answer.
  func insist() {
    for post in mismatched {
      if let mismatch = post.mismatch { write(mismatch, of: post.specification.name) }
    }
  }

  func accept(_ posts: [SupervisedService]) {
    for post in posts where post.mismatch?.isProblem == true {
      post.mismatch = nil
      post.isAccepted = true
      serviceSupervisor.say(.bank(mark), to: post)
      context.write(event: "database_accepted") { $0.field("worker_name", post.specification.name) }
      followers.changed = true
    }
  }

  /// Stores the records of databases that have recorded this opening, as soon as nothing is staged.
  func keep() {
    guard !notes.isEmpty, queue.engine.isKept, queue.engine.isWorking, let memory = context.bindings.memory
    else { return }
    let known = notes.sorted { $0.key < $1.key }
    notes.removeAll()
    do throws(StoreError) {
      for (name, database) in known where try memory.knownDatabase(of: name) != database {
        try memory.remember(database, of: name)
      }
    } catch {
      // Without the record an older copy of this database is not detected; nothing else is affected.
      guard case .diskFull = error else { return queue.fail(error) }
    }
  }

  private func write(_ mismatch: DatabaseMismatch, of name: String) {
    context.write(event: "database_mismatch", level: mismatch.isProblem ? .error : .warn) {
      $0.field("worker_name", name)
      $0.field("msg", mismatch.remark(on: name).description)
    }
  }

  func addMismatches(to report: inout AuditReport) {
    for post in serviceSupervisor.posts { report.add(post.mismatch, of: post.specification.name) }
  }
}

extension DatabaseMismatch {
  static func find(
    _ database: DatabaseMark, of name: String, books: BooksName, _ memory: SQLiteStore
  ) throws(StoreError) -> DatabaseMismatch? {
    var moment: WallTime?
    if let seen = database.bank { moment = try memory.moment(ofOpening: seen.opening) }
    return between(database, books: books.number, known: try memory.knownDatabase(of: name), moment: moment)
  }

  func remark(on name: String) -> Remark {
    switch self {
    case .newBank: Remark(.newBank, name)
    case .newDatabase: Remark(.newDatabase, name)
    case .olderBank: Remark(.olderBank, name)
    case .olderDatabase: Remark(.olderDatabase, name)
    case .otherDatabase: Remark(.otherDatabase, name)
    }
  }
}

extension AuditReport {
  /// Adds a mismatch of a database: a note if it can be intended, and a problem if it cannot.
  mutating func add(_ mismatch: DatabaseMismatch?, of name: String) {
    guard let mismatch else { return }
    if mismatch.isProblem { add(mismatch.remark(on: name)) } else { note(mismatch.remark(on: name)) }
  }
}
