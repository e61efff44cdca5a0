// Access for hosts that run a coordinator themselves, such as the simulation: constructors, the queue, and the state of
// the exit. A host changes the queue only through events.

import BankModel
import Configuration
import Logbook
import Posix
import QueueCore
import Time
import Wire

extension Coordinator {
  /// Coordinator with a home of its own and a store that the caller closes.
  /// - Parameter configurationFile: File that is read on a reload. With `ties`, the file named by their options is
  ///   read instead.
  /// - Parameter policy: Rules of the queue, instead of those of the configuration.
  /// - Parameter ties: Lock and guardian of the home; nil for none.
  /// - Parameter hands: Table of customers in flight, left by the previous coordinator; nil for none.
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

  /// Coordinator of a branch that has joined a shared database, with a home without lock or guardian.
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

  /// Runs all workers and services in this process from now on (simulation) instead of starting processes.
  package func begin(_ residents: @escaping ResidentWorkers) {
    (tellerSupervisor.residents, serviceSupervisor.residents) = (residents, residents)
  }

  package func happen(_ event: QueueEvent) {
    context.takeTime()
    queue.happen(event)
  }

  package var exitCode: Int32? { context.exitCode }
  package var hasDismissedServices: Bool { services.isDismissed }
  /// True after the bank has opened: all windows and services were settled; see ``TellerSupervisor/isSettled``.
  package var hasOpened: Bool { tellerSupervisor.hasOpened }
  /// True if staged changes and queued messages are discarded; see ``BankContext/isCutOff``.
  package var isCutOff: Bool { context.isCutOff }
}
