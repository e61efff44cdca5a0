// Conclusions from the marks that the databases of a home keep of each other.
import Testing
import Time

@testable import BankModel

@Suite("The databases of one home")
struct DatabaseIdentityTests {
  private let moment = WallTime(milliseconds: 1_770_000_000_000)
  private let later = WallTime(milliseconds: 1_770_000_009_000)

  private func database(_ identity: Int64 = 7, bankID: Int64 = 5, opening: Int64 = 3) -> DatabaseIdentity {
    DatabaseIdentity(
      identity: identity, bank: BankIdentity(bankID: bankID, opening: opening, openedAt: moment))
  }

  private func judge(_ database: DatabaseIdentity, _ known: RecordedDatabase?, _ moment: WallTime?)
    -> DatabaseMismatch?
  {
    .between(database, bankID: 5, known: known, moment: moment)
  }

  @Test(
    "belong together when new, and after any crash between the two notes of an opening")
  func together() {
    #expect(judge(DatabaseIdentity(identity: 7, bank: nil), nil, nil) == nil)
    // The database has recorded the opening, and the bank nothing, or only the one before.
    for known in [nil, RecordedDatabase(identity: 7, opening: 2), RecordedDatabase(identity: 7, opening: 3)] {
      #expect(judge(database(), known, moment) == nil)
    }
    // A database that this opening has accepted has recorded it, and the bank still has the former one.
    #expect(judge(database(8, opening: 9), RecordedDatabase(identity: 7, opening: 4), moment) == nil)
  }

  @Test("an older copy of either is distinguished from a file that was set aside")
  func mismatches() {
    let known = RecordedDatabase(identity: 7, opening: 4)
    #expect(judge(database(), known, moment) == .olderDatabase)
    #expect(judge(DatabaseIdentity(identity: 7, bank: nil), known, nil) == .olderDatabase)
    #expect(
      judge(database(8, opening: 3), RecordedDatabase(identity: 7, opening: 4), moment) == .olderDatabase)
    #expect(
      judge(database(8, opening: 4), RecordedDatabase(identity: 7, opening: 4), moment) == .olderDatabase)
    for other in [nil, later] { #expect(judge(database(), known, other) == .olderBank) }
    #expect(judge(DatabaseIdentity(identity: 8, bank: nil), known, nil) == .newDatabase)
    #expect(judge(database(bankID: 6), nil, moment) == .newBank)
    #expect(judge(database(bankID: 6), known, moment) == .newBank)
    #expect(judge(database(8, bankID: 6), known, moment) == .otherDatabase)
    #expect(DatabaseMismatch.allCases.filter(\.isProblem) == [.olderBank, .olderDatabase, .otherDatabase])
  }
}
