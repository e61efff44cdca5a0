// Check that the databases of the services are those that the bank has recorded, and the records about these databases.
// Invariant: a database records the present opening only if it matches, if the mismatch can be intended, or if the
// operator has accepted the mismatch by `reload`. The bank stores its own record after that.

import BankModel
import QueueCore
import Storage
import Time
import Wire

final class DatabaseIdentities: CoordinatorComponent {
  /// Records to be stored, by service name.
  private var pendingRecords: [String: RecordedDatabase] = [:]

  /// Mark of this opening, which the databases of the services record.
  private var mark: BankIdentity {
    BankIdentity(bankID: context.bankID.number, opening: context.incarnation, openedAt: context.openedAt.wall)
  }

  /// Compares a service's database with the bank's records and reports a mismatch.
  func handle(_ database: DatabaseIdentity, from slot: SupervisedService) {
    guard let databaseRecords = context.bindings.databaseRecords, !context.isHalted else { return }
    let name = slot.specification.name
    do throws(StoreError) {
      if database.bank == mark {
        slot.acceptedIdentity = nil
        pendingRecords[name] = RecordedDatabase(identity: database.identity, opening: context.incarnation)
        return keep()
      }
      let mismatch = try DatabaseMismatch.find(database, of: name, bankID: context.bankID, databaseRecords)
      slot.reportedIdentity = database.identity
      let isAccepted = slot.acceptedIdentity == database.identity
      let isProblem = mismatch?.isProblem == true && !isAccepted
      // If a restarted service has a new database, the file was moved away while the bank was open.
      slot.mismatch = mismatch == .newDatabase && slot.generation > 1 || isAccepted ? nil : mismatch
      if let mismatch { write(mismatch, of: name) }
      if !isProblem { serviceSupervisor.send(.bank(mark), to: slot) }
    } catch { queue.fail(error) }
  }

  /// Services whose database is not the one that the bank has recorded, as far as this is a problem.
  var mismatched: [SupervisedService] { serviceSupervisor.slots.filter { $0.mismatch?.isProblem == true } }

  /// Logs the mismatches again, for a reload by a signal: its sender receives no answer.
  func retainMismatches() {
    for slot in mismatched {
      if let mismatch = slot.mismatch { write(mismatch, of: slot.specification.name) }
    }
  }

  /// Accepts the mismatched databases of these services, which then record this opening.
  func accept(_ slots: [SupervisedService]) {
    for slot in slots where slot.mismatch?.isProblem == true {
      slot.mismatch = nil
      slot.acceptedIdentity = slot.reportedIdentity
      serviceSupervisor.send(.bank(mark), to: slot)
      context.write(event: "database_accepted") { $0.field("worker_name", slot.specification.name) }
      subscriptions.changed = true
    }
  }

  /// Stores the records of databases that have recorded this opening, as soon as nothing is staged.
  func keep() {
    guard !pendingRecords.isEmpty, queue.engine.isDurable, queue.engine.isWorking,
      let databaseRecords = context.bindings.databaseRecords
    else { return }
    let known = pendingRecords.sorted { $0.key < $1.key }
    pendingRecords.removeAll()
    do throws(StoreError) {
      for (name, database) in known where try databaseRecords.knownDatabase(of: name) != database {
        try databaseRecords.remember(database, of: name)
      }
    } catch {
      // Without the record an older copy of this database is not detected.
      guard case .diskFull = error else { return queue.fail(error) }
    }
  }

  private func write(_ mismatch: DatabaseMismatch, of name: String) {
    context.write(event: "database_mismatch", level: mismatch.isProblem ? .error : .warn) {
      $0.field("worker_name", name)
      $0.field("msg", mismatch.messageDetail(on: name).description)
    }
  }

  /// Adds the mismatches of all services to an audit.
  func addMismatches(to report: inout AuditReport) {
    for slot in serviceSupervisor.slots { report.add(slot.mismatch, of: slot.specification.name) }
  }
}

extension DatabaseMismatch {
  /// Compares a service's database with the bank's records. Returns nil if they match.
  static func find(
    _ database: DatabaseIdentity, of name: String, bankID: BankID, _ databaseRecords: SQLiteStore
  ) throws(StoreError) -> DatabaseMismatch? {
    var moment: WallTime?
    if let seen = database.bank { moment = try databaseRecords.moment(ofOpening: seen.opening) }
    return between(
      database, bankID: bankID.number, known: try databaseRecords.knownDatabase(of: name), moment: moment)
  }

  /// Description of the mismatch for an audit or a log.
  func messageDetail(on name: String) -> MessageDetail {
    switch self {
    case .newBank: MessageDetail(.newBank, name)
    case .newDatabase: MessageDetail(.newDatabase, name)
    case .olderBank: MessageDetail(.olderBank, name)
    case .olderDatabase: MessageDetail(.olderDatabase, name)
    case .otherDatabase: MessageDetail(.otherDatabase, name)
    }
  }
}

extension AuditReport {
  /// Adds a mismatch of a database: a note if it can be intended, and a problem if it cannot.
  mutating func add(_ mismatch: DatabaseMismatch?, of name: String) {
    guard let mismatch else { return }
    if mismatch.isProblem {
      add(mismatch.messageDetail(on: name))
    } else {
      note(mismatch.messageDetail(on: name))
    }
  }
}
