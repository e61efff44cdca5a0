// Owns what somebody needs who runs a coordinator on a machine of his own and looks on: a bank in a home that nobody else
// knows, its queue, and how far it is from its end. It decides nothing.
// Invariant: whoever looks on changes nothing but by events, as everybody else does.

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
  ///
  /// - Parameters:
  ///   - configurationFile: What is read when the configuration is to be read again.
  ///   - configuration: As it is at the beginning.
  ///   - policy: The rules of the queue, where they are not those of the configuration.
  ///   - limits: How much is done at once.
  ///   - ties: What ties it to its home all the same; nil for nothing.
  package convenience init(
    home: String, configurationFile: String, configuration: BankConfiguration, policy: QueuePolicy,
    limits: CoordinatorLimits, loop: EventLoop, server: ControlServer, log: LogFile, store: any QueueStore,
    contents: StoredQueue, incarnation: Int64, programs: WorkerPrograms, now: Moment, ties: HomeTies? = nil
  ) throws(Failure) {
    let options: CoordinatorOptions
    if let ties {
      options = ties.options
    } else {
      options = try CoordinatorOptions(["--home", home, "--config", configurationFile])
    }
    self.init(
      home: BankHome(home), options: options,
      configuration: configuration, loop: loop, server: server, log: log, store: store, contents: contents,
      incarnation: incarnation, booksName: .none, programs: programs, now: now, policy: policy,
      limits: limits,
      bindings: ties?.bindings(loop: loop, log: log, patience: configuration.standstill) ?? HomeBindings()
    )
  }

  /// Where its clients find the coordinator of a home.
  package static func socket(inHome path: String) -> String { BankHome(path).socket }

  /// The queue, to be asked.
  package var machine: QueueMachine { _read { yield queue.machine } }

  /// Whoever looks at all that happens to the queue; nil where nobody does.
  package var witness: (any QueueWitness)? {
    get { queue.witness }
    set { queue.witness = newValue }
  }

  /// Has its workers begin by this from here on, and no process be started.
  package func begin(_ residents: @escaping ResidentWorkers) {
    (tellerSupervisor.residents, serviceSupervisor.residents) = (residents, residents)
  }

  /// Lets an event happen that nobody has reported.
  package func happen(_ event: QueueEvent) {
    context.takeTime()
    queue.happen(event)
  }

  /// The exit code of the process once it is to end; see ``leave()``.
  package var exitCode: Int32? { context.exitCode }

  /// Whether the services were told to go, because the bank closes.
  package var hasDismissedServices: Bool { services.isDismissed }

  /// Whether every window has had a teller at work.
  package var hasOpened: Bool { tellerSupervisor.hasOpened }

  /// Whether nothing that was staged or said is kept any more: the process ends where it stands.
  package var isCutOff: Bool { context.isCutOff }
}
