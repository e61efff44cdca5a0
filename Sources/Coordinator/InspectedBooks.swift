// Owns what an inspector needs of the books that it reads, and how books with an address are opened. It knows no database:
// a closed bank's lie in its home, and those that branches share wherever a module above this one opens them.

import BankModel
import Posix
import QueueCore
import Wire

/// Books that are looked into by a process of its own, which may wait for them.
public protocol InspectedBooks: AnyObject {
  /// What they are asked.
  var reading: any QueueReading { get }
  /// What the present day is by now, and which services there are: before each answer.
  func look() throws(StoreError) -> InspectedNumbers
  /// The receipts of all branches behind what was seen of each, for whoever follows them: from a day on, of a service or all,
  /// about so many. Nil of books with one order of commits.
  func receipts(
    from day: BusinessDay, behind marks: [ReceiptMark], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts?
  /// Everything that an audit finds; nil where somebody is just about to open the bank, who comes first.
  func audit() throws(StoreError) -> AuditReport?
  /// The same books where only the juice of one branch counts; nil where there is no such branch, or there are no branches.
  func stockReading(ofBranch name: String) throws(StoreError) -> (any QueueReading)?
}

extension InspectedBooks {
  /// Books in a home have no branches.
  public func stockReading(ofBranch name: String) throws(StoreError) -> (any QueueReading)? { nil }
}

extension InspectedBooks {
  func receipts(
    from day: BusinessDay, behind marks: [ReceiptMark], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts? { nil }
}

/// What is known of the present day of inspected books.
public struct InspectedNumbers: Sendable, Equatable {
  /// By which the attempts at their customers are known from those at any other bank's.
  public var name: BooksName
  /// The day that is meant where none is named: of a closed bank the last one on which it was open.
  public var presentDay: BusinessDay
  /// The highest number that was issued on it.
  public var issued: TicketNumber

  public init(name: BooksName, presentDay: BusinessDay, issued: TicketNumber) {
    (self.name, self.presentDay, self.issued) = (name, presentDay, issued)
  }
}

/// How a store with an address (`--store postgres://…`) is opened. The program hands one in where its build has what it takes:
/// this module knows no such store.
public protocol SharedBooksOpener {
  /// Opens the books at an address to be read, by a process that may wait for them.
  ///
  /// - Parameters:
  ///   - language: in which is told what goes wrong with them.
  ///   - known: returns what the home knows of the books at this address at that moment, by which they are recognized.
  /// - Throws: ``Wire/Failure`` or ``QueueCore/StoreError``, to be told to whoever started this process.
  func inspect(
    _ address: String, in language: Language, knowing known: @escaping () -> BooksMark?
  ) throws -> any InspectedBooks

  /// Moves everything into the books at an address, in which nobody may ever have been. It waits for that.
  ///
  /// - Returns: what is there now, also where an earlier move has brought it.
  /// - Throws: ``Wire/Failure`` `not_moved` where nothing has come of it, and else ``Wire/Failure`` or
  ///   ``QueueCore/StoreError``.
  func move(_ books: MovingBooks, told watch: any MoveWatch) throws -> MovedBooks

  /// Joins the bank whose books are at an address, as a branch. It waits for that, and has whoever waits for it know that it
  /// goes on.
  ///
  /// - Parameter progressed: called now and then.
  /// - Throws: ``Wire/Failure`` or ``QueueCore/StoreError``, to be told to whoever started this process.
  func join(
    _ branch: JoiningBranch, on loop: EventLoop, progressed: () -> Void
  ) throws -> (books: any BranchStore, opening: BranchOpening)
}

/// A branch that joins a shared bank.
public struct JoiningBranch: Sendable {
  /// The address of the books.
  public var address: String
  /// The branch's name. A home is refused whose name another home has, as long as the branch there is open.
  public var name: String
  /// The machine, for whoever looks at the branches.
  public var host: String
  /// Services that are to have numbers.
  public var services: [ServiceName]
  /// In which is told what goes wrong with the books.
  public var language: Language
  /// What the home knows of shared books from the last time; nil for nothing.
  public var known: BooksMark?
  /// True if ``known`` is of books at another address.
  public var isElsewhere = false
  /// Which home on which running machine this is; see ``BranchProof``.
  public var proof: String
  /// Bytes of a request for tickets that goes to the books as a whole; nil for what is good on any line.
  public var wholeBytes: Int?
  /// Whether it was open before and its guardian opens it again: then it waits for a database that is away.
  public var isReturning: Bool

  package init(
    address: String, name: String, host: String, services: [ServiceName], language: Language = .english,
    proof: String = "", isReturning: Bool = false, wholeBytes: Int? = nil
  ) {
    (self.address, self.name, self.host, self.services) = (address, name, host, services)
    (self.language, self.proof, self.isReturning) = (language, proof, isReturning)
    self.wholeBytes = wholeBytes
  }
}
