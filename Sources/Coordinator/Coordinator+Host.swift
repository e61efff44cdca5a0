// Access for hosts that run a coordinator themselves, such as the simulation:
// constructors, the queue, and the state of the exit.

import BankModel
import Configuration
import Logging
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
  /// - Parameter inFlightTable: Table of customers in flight, left by the previous coordinator; nil for none.
  package convenience init(
    home: String, configurationFile: String, configuration: BankConfiguration, policy: QueuePolicy,
    limits: CoordinatorLimits, loop: EventLoop, server: ControlServer, log: LogFile,
    store: any LocalQueueStore,
    contents: StoredQueue, incarnation: Int64, bankID: BankID = .none, programs: ProgramPaths,
    now: Moment, ties: HomeOwnership? = nil, inFlightTable: InFlightTable? = nil
  ) throws(Failure) {
    let options: CoordinatorOptions
    if let ties {
      options = ties.options
    } else {
      options = try CoordinatorOptions(["--home", home, "--config", configurationFile])
    }
    var bindings =
      ties.map {
        $0.homeResources(
          $0.beginHeartbeats(loop: loop, patience: configuration.watchdogTimeout), loop: loop, log: log)
      } ?? HomeResources()
    bindings.inFlightTable = inFlightTable
    self.init(
      home: BankHome(home), options: options,
      configuration: configuration, loop: loop, server: server, log: log, store: store, reading: store,
      contents: contents, incarnation: incarnation, bankID: bankID, programs: programs, now: now,
      policy: policy,
      limits: limits,
      bindings: bindings)
  }

  /// Coordinator of a branch that has joined a shared database, with a home without lock or guardian.
  package convenience init(
    home: String, configurationFile: String, configuration: BankConfiguration, policy: QueuePolicy,
    limits: CoordinatorLimits, loop: EventLoop, server: ControlServer, log: LogFile,
    joined: (store: any SharedQueueStore, opening: BranchJoinState), programs: ProgramPaths
  ) throws(Failure) {
    let openedStore = OpenedStore(joined, address: nil)
    self.init(
      home: BankHome(home), options: try CoordinatorOptions(["--home", home, "--config", configurationFile]),
      configuration: configuration, loop: loop, server: server, log: log, store: openedStore.store,
      reading: openedStore.reading, shared: openedStore.shared, contents: openedStore.contents,
      incarnation: openedStore.incarnation,
      bankID: openedStore.name, programs: programs, now: openedStore.openedAt, policy: policy, limits: limits)
  }

  /// Path of the control socket in a home.
  package static func socket(inHome path: String) -> String { BankHome(path).socket }
  /// State of the queue, for reading.
  package var machine: QueueMachine { _read { yield queue.machine } }

  /// Observer that applies the queue's events in place of the coordinator; nil for none.
  package var witness: (any QueueObserver)? {
    get { queue.witness }
    set { queue.witness = newValue }
  }

  /// Runs the workers and services that are started from now on inside this process (simulation).
  package func begin(_ inProcessWorkers: @escaping InProcessWorkerFactory) {
    (tellerSupervisor.inProcessWorkers, serviceSupervisor.inProcessWorkers) = (
      inProcessWorkers, inProcessWorkers
    )
  }

  /// Passes an event to the queue, with the present time.
  package func process(_ event: QueueEvent) {
    context.updateTime()
    queue.process(event)
  }

  /// Exit code of the process; nil while it runs.
  package var exitCode: Int32? { context.exitCode }
  /// True after the coordinator has asked its service processes to exit.
  package var hasDismissedServices: Bool { services.isDismissed }
  /// True after the bank has opened; see ``TellerSupervisor/isSettled``.
  package var hasOpened: Bool { tellerSupervisor.hasOpened }
  /// True after a cut-off; see ``BankContext/isHalted``.
  package var isHalted: Bool { context.isHalted }
}
