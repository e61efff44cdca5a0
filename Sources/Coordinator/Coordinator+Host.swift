// Owns what somebody needs who runs a coordinator on a machine of his own and looks on: a bank in a home that nobody else
// knows, its queue, and how far it is from its end. It decides nothing, and whoever looks on changes nothing but by events.

import BankModel
import Configuration
import Logbook
import Posix
import QueueCore
import Time
import Wire

extension Coordinator {
  /// A coordinator in a home that nothing else ties it to: no lock, no guardian, and a store that is closed by whoever has
  /// opened it.
  /// - Parameter configurationFile: What is read when the configuration is to be read again.
  /// - Parameter policy: The rules of the queue, where they are not those of the configuration.
  /// - Parameter ties: What ties it to its home all the same; nil for nothing.
  /// - Parameter hands: What the coordinator before it has left; nil for nothing.
  package convenience init(
    home: String, configurationFile: String, configuration: BankConfiguration, policy: QueuePolicy,
    limits: CoordinatorLimits, loop: EventLoop, server: ControlServer, log: LogFile,
    store: any LocalQueueStore,
    contents: StoredQueue, incarnation: Int64, booksName: BooksName = .none, programs: WorkerPrograms,
    now: Moment, ties: HomeTies? = nil, hands: HandTable? = nil
  ) throws(Failure) {
    let options: CoordinatorOptions
    if let ties {
      options = ties.options
    } else {
      options = try CoordinatorOptions(["--home", home, "--config", configurationFile])
    }
    var bindings =
      ties.map {
        $0.bindings($0.beginPulse(loop: loop, patience: configuration.standstill), loop: loop, log: log)
      } ?? HomeBindings()
    bindings.hands = hands
    self.init(
      home: BankHome(home), options: options,
      configuration: configuration, loop: loop, server: server, log: log, store: store, reading: store,
      contents: contents, incarnation: incarnation, booksName: booksName, programs: programs, now: now,
      policy: policy,
      limits: limits,
      bindings: bindings)
  }

  /// A coordinator of a branch that has joined a bank whose books it shares, in a home that nothing else ties it to.
  package convenience init(
    home: String, configurationFile: String, configuration: BankConfiguration, policy: QueuePolicy,
    limits: CoordinatorLimits, loop: EventLoop, server: ControlServer, log: LogFile,
    joined: (books: any BranchStore, opening: BranchOpening), programs: WorkerPrograms
  ) throws(Failure) {
    let books = OpenedBooks(joined, address: nil)
    self.init(
      home: BankHome(home), options: try CoordinatorOptions(["--home", home, "--config", configurationFile]),
      configuration: configuration, loop: loop, server: server, log: log, store: books.store,
      reading: books.reading, shared: books.shared, contents: books.contents, incarnation: books.incarnation,
      booksName: books.name, programs: programs, now: books.openedAt, policy: policy, limits: limits)
  }

  package static func socket(inHome path: String) -> String { BankHome(path).socket }
  package var machine: QueueMachine { _read { yield queue.machine } }

  package var witness: (any QueueWitness)? {
    get { queue.witness }
    set { queue.witness = newValue }
  }

  /// Has its workers begin by this from here on, and no process be started.
  package func begin(_ residents: @escaping ResidentWorkers) {
    (tellerSupervisor.residents, serviceSupervisor.residents) = (residents, residents)
  }

  package func happen(_ event: QueueEvent) {
    context.takeTime()
    queue.happen(event)
  }

  package var exitCode: Int32? { context.exitCode }
  package var hasDismissedServices: Bool { services.isDismissed }
  /// Whether every window has had a teller at work.
  package var hasOpened: Bool { tellerSupervisor.hasOpened }
  /// Whether nothing that was staged or said is kept any more: the process ends where it stands.
  package var isCutOff: Bool { context.isCutOff }
}
