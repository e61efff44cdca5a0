// Owns how many windows there shall be, and the configuration that says so: it is read again here, and everybody who works by
// it is told. It starts no process, and waits for none.
// Invariant: a configuration in which something is wrong changes nothing; and where a guardian would open this bank again,
// it is noted how many windows are wanted before the first of them opens.

import BankModel
import Configuration
import Posix
import QueueCore
import Wire

final class WindowPlan: BankPart {
  /// Whether windows for command lines were opened: by the first of them, or by somebody.
  private var hasOpenedForCommandLines = false
  private let tellers: Tellers
  private let outside: OutsideWorkers
  private let services: BranchServices
  private let reports: BankReports
  private let marks: DatabaseMarks

  init(
    _ ground: BankPart, _ tellers: Tellers, _ outside: OutsideWorkers, _ services: BranchServices,
    _ marks: DatabaseMarks, _ reports: BankReports
  ) {
    self.reports = reports
    self.tellers = tellers
    self.outside = outside
    self.services = services
    self.marks = marks
    super.init(ground)
  }

  /// A client asks for other numbers of windows, and waits until they are as they shall be.
  ///
  /// - Parameter isAskedFromWithin: whether the client is a part of the work at a window, which may be one that closes.
  func scale(_ wanted: [ServiceWindows], _ seat: Seat, isAskedFromWithin: (ControlSession) -> Bool) {
    if refusesWhileEnding(seat) { return }
    guard Set(wanted.map(\.service)).count == wanted.count else {
      return server.answer(seat, .failure(Failure(.badRequest, remark: Remark(.serviceTwice))))
    }
    do throws(Failure) { for entry in wanted { _ = try context.services.service(entry.service) } } catch {
      return server.answer(seat, .failure(error))
    }
    for entry in wanted where !(0...BankModel.Limits.windowsPerService).contains(entry.count) {
      let remark = Remark(.windowsRange, entry.service.text, BankModel.Limits.windowsPerService, entry.count)
      return server.answer(seat, .failure(Failure(.badRequest, remark: remark)))
    }
    for entry in wanted where entry.count > 0 && context.configuration.isOutside(entry.service) {
      let remark = Remark(.noWindowsOutside, entry.service.text)
      return server.answer(seat, .failure(Failure(.badRequest, remark: remark)))
    }
    for entry in wanted {
      guard let service = context.services[entry.service] else { continue }
      if entry.service == .run { hasOpenedForCommandLines = true }
      context.write(event: "scale") {
        $0.field("service", entry.service.text)
        $0.field("windows", entry.count)
      }
      queue.happen(.scale(service, windows: Int32(entry.count)))
    }
    noteWindows()
    tellerSupervisor.retryGivenUp(at: context.now)
    serviceSupervisor.retryFailing(at: context.now)
    awaitWindows(seat, unless: isAskedFromWithin)
  }

  /// A client asks for the configuration to be read again, and waits until the windows follow it.
  ///
  /// - Parameter isAskedFromWithin: see ``scale(_:_:isAskedFromWithin:)``.
  func reload(_ seat: Seat, isAskedFromWithin: (ControlSession) -> Bool) {
    if refusesWhileEnding(seat) { return }
    // Before the others are tried again: what they find then nobody has read yet.
    let known = marks.mismatched
    if let failure = reload() { return server.answer(seat, .failure(failure)) }
    marks.accept(known)
    awaitWindows(seat, unless: isAskedFromWithin)
  }

  func awaitOpen(_ seat: Seat) { if !refusesWhileEnding(seat) { awaitWindows(seat) } }

  /// SIGHUP asks for the same as the command, but for one thing: a signal comes from log rotations and service managers as
  /// well, and none of them has read what is wrong with a database.
  func reloadBySignal() {
    // Windows that were opened now would be there for nobody, and the bank would wait for their tellers.
    guard !context.isEnding || Kernel.makes("opensWindowsWhileItCloses") else {
      return context.write(event: "reload_refused", level: .warn) { $0.field("msg", "the bank closes") }
    }
    if reload() == nil { marks.insist() }
  }

  private func refusesWhileEnding(_ seat: Seat) -> Bool {
    if context.isEnding { server.answer(seat, .failure(Failure(.draining))) }
    return context.isEnding
  }

  /// A client that is a part of the work at a window is answered with what there is now: its window may be waiting for it.
  private func awaitWindows(_ seat: Seat, unless isAskedFromWithin: (ControlSession) -> Bool) {
    guard isAskedFromWithin(seat.session) else { return awaitWindows(seat) }
    followers.changed = true
    server.answer(seat, .status(reports.status()))
  }

  private func awaitWindows(_ seat: Seat) {
    followers.awaitWindows(seat)
    followers.changed = true
  }

  /// Opens the windows of the configuration, or those that the start asked for. Whoever is at a window of a service that the
  /// configuration does not name any more is served, and then that window is closed.
  func open() {
    let services = context.services
    for service in services.directory.services {
      let name = services.directory[service]
      // Where nobody has ever brought a command line there is no process that waits for one.
      let isOpen = services[name] != nil && (name != .run || hasOpenedForCommandLines || isWaitedFor(service))
      if name == .run, isOpen { hasOpenedForCommandLines = true }
      let windows = isOpen ? context.configuration.windows[name] : 0
      queue.apply(.scale(service, windows: windows))
    }
    noteWindows()
    queue.perform()
  }

  /// The first customer with a command line has come: the windows open that such customers have.
  func openForCommandLines() {
    guard !hasOpenedForCommandLines, !context.isEnding, let service = context.services.commandLines,
      isWaitedFor(service)
    else { return }
    hasOpenedForCommandLines = true
    queue.happen(.scale(service, windows: context.configuration.windows[.run]))
    noteWindows()
    followers.changed = true
  }

  private func isWaitedFor(_ service: Service) -> Bool {
    queue.machine.numbers(of: service).waiting > 0
      || shared.map { $0.counts(of: service).waiting > 0 } == true
  }

  /// Keeps the notes for the next coordinator again, which somebody has removed.
  func keepNotes() {
    noteWindows()
    RecoveryNote.keepConfiguration(of: context.options, context.home)
  }

  /// Writes down how many windows are wanted, for the next coordinator if this one is killed.
  private func noteWindows() {
    guard context.bindings.guardianship?.isGuarded == true else { return }
    let names = context.services.names.filter { $0 != .run || hasOpenedForCommandLines }
    let windows = names.map { name in
      (name, Int32(clamping: context.services[name].map { queue.machine.numbers(of: $0).windows } ?? 0))
    }
    WindowsRecord.keep(Dictionary(uniqueKeysWithValues: windows), at: context.home.windows)
  }

  /// Reads the configuration again and makes the windows follow it; what is wrong with it otherwise.
  private func reload() -> Failure? {
    let fresh: BankConfiguration
    let (assortment, products): (Assortment, ProductTable)
    do throws(Failure) {
      let read = try services.readFiles()
      fresh = try context.options.configuration(over: read.configuration)
        .keeping(context.configuration.store)
      (assortment, products) = (read.assortment, read.products)
      if shared != nil, let new = fresh.services.first(where: { store.services[$0] == nil }) {
        throw Failure(.notInSharedBank, subject: "reload \(new.text)")
      }
      do throws(StoreError) { try queue.giveNumbers(to: fresh.services) } catch {
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
    serviceSupervisor.standstill = fresh.standstill
    context.bindings.guardianship?.adopt(fresh.standstill)
    queue.adopt(fresh.policy(store.services))
    tellerSupervisor.policy = fresh.restarts
    context.write(event: "reloaded")
    RecoveryNote.keepConfiguration(of: context.options, context.home)
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
