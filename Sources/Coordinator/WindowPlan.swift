// Number of windows of each service, and the configuration that sets it. A reload reads the configuration again and
// applies it.
// Invariant: an invalid configuration changes nothing.

import BankModel
import Configuration
import Posix
import QueueCore
import Wire

final class WindowPlan: CoordinatorComponent {
  /// True after windows for command lines were opened, either for the first customer with a command line or by
  /// a client's request.
  private var hasOpenedForCommandLines = false
  private let tellers: TellerEventHandler
  private let outside: OutsideWorkers
  private let services: ServiceProcesses
  private let reports: BankReports
  private let databaseIdentities: DatabaseIdentities

  init(
    _ dependencies: CoordinatorComponent, _ tellers: TellerEventHandler, _ outside: OutsideWorkers,
    _ services: ServiceProcesses,
    _ databaseIdentities: DatabaseIdentities, _ reports: BankReports
  ) {
    self.reports = reports
    self.tellers = tellers
    self.outside = outside
    self.services = services
    self.databaseIdentities = databaseIdentities
    super.init(dependencies)
  }

  /// Changes the numbers of windows. The client is answered when the windows are settled; see
  /// ``TellerSupervisor/isSettled``.
  ///
  /// - Parameter isAskedFromWithin: Returns true for a client that is part of the work at a window. The client is then
  ///   answered at once, because that window may close.
  func scale(
    _ wanted: [ServiceWindows], _ requester: RequestHandle, isAskedFromWithin: (ControlSession) -> Bool
  ) {
    if refusesWhileEnding(requester) { return }
    guard Set(wanted.map(\.service)).count == wanted.count else {
      return server.answer(
        requester, .failure(Failure(.badRequest, messageDetail: MessageDetail(.serviceTwice))))
    }
    do throws(Failure) { for entry in wanted { _ = try context.services.service(entry.service) } } catch {
      return server.answer(requester, .failure(error))
    }
    for entry in wanted where !(0...BankModel.Limits.windowsPerService).contains(entry.count) {
      let messageDetail = MessageDetail(
        .windowsRange, entry.service.text, BankModel.Limits.windowsPerService, entry.count)
      return server.answer(requester, .failure(Failure(.badRequest, messageDetail: messageDetail)))
    }
    for entry in wanted where entry.count > 0 && context.configuration.isOutside(entry.service) {
      let messageDetail = MessageDetail(.outsideServiceWithoutWindows, entry.service.text)
      return server.answer(requester, .failure(Failure(.badRequest, messageDetail: messageDetail)))
    }
    for entry in wanted {
      guard let service = context.services[entry.service] else { continue }
      if entry.service == .run { hasOpenedForCommandLines = true }
      context.write(event: "scale") {
        $0.field("service", entry.service.text)
        $0.field("windows", entry.count)
      }
      queue.process(.scale(service, windows: Int32(entry.count)))
    }
    writeWindowsMarkerFile()
    tellerSupervisor.retryGivenUp(at: context.now)
    serviceSupervisor.retryFailing(at: context.now)
    awaitWindows(requester, unless: isAskedFromWithin)
  }

  /// Reloads the configuration. The client is answered when the windows are settled.
  ///
  /// - Parameter isAskedFromWithin: See ``scale(_:_:isAskedFromWithin:)``.
  func reload(_ requester: RequestHandle, isAskedFromWithin: (ControlSession) -> Bool) {
    if refusesWhileEnding(requester) { return }
    // Read before services are retried: the operator has not seen the mismatches that are found afterwards.
    let known = databaseIdentities.mismatched
    if let failure = reload() { return server.answer(requester, .failure(failure)) }
    databaseIdentities.accept(known)
    awaitWindows(requester, unless: isAskedFromWithin)
  }

  /// Adds a client that waits until the bank is open and the windows are settled; refuses it if the bank is closing.
  func awaitOpen(_ requester: RequestHandle) { if !refusesWhileEnding(requester) { awaitWindows(requester) } }

  /// Reloads after SIGHUP, without accepting database mismatches: log rotation and service managers send this
  /// signal as well, and they have not read the mismatches.
  func reloadBySignal() {
    // New windows would serve no customer, and the closing bank would wait for their tellers.
    guard !context.isEnding || Mutant.opensWindowsWhileClosing.isActive else {
      return context.write(event: "reload_refused", level: .warn) { $0.field("msg", "the bank is closing") }
    }
    if reload() == nil { databaseIdentities.retainMismatches() }
  }

  /// Refuses the request and returns true if the bank is closing.
  private func refusesWhileEnding(_ requester: RequestHandle) -> Bool {
    if context.isEnding { server.answer(requester, .failure(Failure(.draining))) }
    return context.isEnding
  }

  /// Adds a client that waits until the windows are settled. A client inside the work at a window is answered at once,
  /// because its window may be waiting for the client.
  private func awaitWindows(_ requester: RequestHandle, unless isAskedFromWithin: (ControlSession) -> Bool) {
    guard isAskedFromWithin(requester.session) else { return awaitWindows(requester) }
    subscriptions.changed = true
    server.answer(requester, .status(reports.status()))
  }

  private func awaitWindows(_ requester: RequestHandle) {
    subscriptions.awaitWindows(requester)
    subscriptions.changed = true
  }

  /// Opens the windows of the configuration or those requested at the start. A service that is not configured any more
  /// gets none.
  func open() {
    let services = context.services
    for service in services.directory.services {
      let name = services.directory[service]
      // Windows for command lines are opened only after a customer with a command line has waited, or at a client's
      // request.
      let isOpen =
        services[name] != nil && (name != .run || hasOpenedForCommandLines || hasWaitingCustomers(service))
      if name == .run, isOpen { hasOpenedForCommandLines = true }
      let windows = isOpen ? context.configuration.windows[name] : 0
      queue.apply(.scale(service, windows: windows))
    }
    writeWindowsMarkerFile()
    queue.perform()
  }

  /// Opens the windows for command lines when the first customer with a command line waits.
  func openForCommandLines() {
    guard !hasOpenedForCommandLines, !context.isEnding, let service = context.services.commandLines,
      hasWaitingCustomers(service)
    else { return }
    hasOpenedForCommandLines = true
    queue.process(.scale(service, windows: context.configuration.windows[.run]))
    writeWindowsMarkerFile()
    subscriptions.changed = true
  }

  /// True if a customer of the service waits, in this branch or in the shared database.
  private func hasWaitingCustomers(_ service: Service) -> Bool {
    queue.machine.numbers(of: service).waiting > 0
      || shared.map { $0.counts(of: service).waiting > 0 } == true
  }

  /// Writes the files for the next coordinator again after they were removed.
  func restoreMarkerFiles() {
    writeWindowsMarkerFile()
    RecoveryMarkerFile.copyConfiguration(of: context.options, context.home)
  }

  /// Stores the wanted numbers of windows for the next coordinator, in case this one is killed.
  private func writeWindowsMarkerFile() {
    guard context.bindings.guardianSupervisor?.isGuarded == true else { return }
    let names = context.services.names.filter { $0 != .run || hasOpenedForCommandLines }
    let windows = names.map { name in
      (name, Int32(clamping: context.services[name].map { queue.machine.numbers(of: $0).windows } ?? 0))
    }
    WindowsMarkerFile.write(Dictionary(uniqueKeysWithValues: windows), at: context.home.windows)
  }

  /// Reads the configuration again and applies it. Returns the error if it is invalid or its services cannot be stored;
  /// nil on success.
  private func reload() -> Failure? {
    let fresh: BankConfiguration
    let (assortment, products): (Assortment, ProductTable)
    do throws(Failure) {
      let read = try services.readFiles()
      fresh = try context.options.configuration(over: read.configuration)
        .keeping(context.configuration.store)
      (assortment, products) = (read.assortment, read.products)
      if shared != nil, let new = fresh.services.first(where: { store.services[$0] == nil }) {
        throw Failure(.unsupportedWithSharedStore, subject: "reload \(new.text)")
      }
      do throws(StoreError) { try queue.assignNumbers(to: fresh.services) } catch {
        if case .diskFull = error {} else { queue.fail(error) }
        throw Failure(store: error)
      }
    } catch {
      context.write(event: "reload_refused", level: .error) { $0.field("msg", error.detail) }
      return error
    }
    let changesOrders = fresh.tellerOrdersDiffer(from: context.configuration)
    context.adopt(fresh, store.services)
    (tellerSupervisor.services, tellerSupervisor.kinds) = (store.services, context.kinds)
    serviceSupervisor.watchdogTimeout = fresh.watchdogTimeout
    context.bindings.guardianSupervisor?.adopt(fresh.watchdogTimeout)
    queue.adopt(fresh.policy(store.services))
    tellerSupervisor.policy = fresh.restarts
    context.write(event: "reloaded")
    RecoveryMarkerFile.copyConfiguration(of: context.options, context.home)
    open()
    do throws(SystemError) { try outside.follow() } catch {
      context.write(event: "reload_incomplete", level: .error) { $0.field("msg", error.description) }
    }
    if changesOrders { tellers.replaceAll() }
    tellerSupervisor.retryGivenUp(at: context.now)
    services.renew(assortment, products)
    serviceSupervisor.retryFailing(at: context.now)
    return nil
  }
}
