// Owns one branch of a chaos run over several: its home, its processes, its way to the server, and who is at its windows.
// Invariant: it is opened by `bankctl`, as a person would, without anybody's waiting for it.
// Failure: an attempt to open it that fails is made again; the run's patience ends that.
import ControlClient
import Glibc
import Posix
import Time

final class SharedChaosBranch {
  /// How it comes to the server.
  enum Way {
    case direct
    case network(ChaosNetwork)
    case relay(ChaosRelayProcess)
  }

  let number: Int
  let bank: ChaosBank
  let witness: ChaosWitness
  let way: Way
  /// How the server shows its sessions.
  let application: String
  /// Customers at its windows.
  private(set) var atWindows: Set<ChaosTicket> = []
  /// Told of each start and each completion.
  var onEvent: (ChaosTicket, Bool) -> Void = { _, _ in }
  private let address: String
  private let speed: String
  private let mark: String
  private var opening: ChildProcess?
  /// When it is to be opened; nil where it is open, or opens by itself.
  private var openAt: MonotonicTime?
  /// When it is no longer cut off.
  private(set) var mendAt: MonotonicTime?

  init(
    _ number: Int, _ home: BankHome, mark: String, way: Way, address: String, application: String,
    speed: String,
    on loop: EventLoop
  ) {
    (self.number, self.way, self.address, self.application, self.speed) = (
      number, way, address, application, speed
    )
    self.mark = mark
    bank = ChaosBank(home, mark: mark)
    witness = ChaosWitness(home, on: loop)
    openAt = SystemClock.monotonic()
    witness.onStarted = { [unowned self] in
      atWindows.insert($0)
      onEvent($0, false)
    }
    witness.onCompleted = { [unowned self] in
      atWindows.remove($0)
      onEvent($0, true)
    }
  }

  /// Whether somebody has closed it, it is being opened or cut off, or a process of it stands still.
  var isInTrouble: Bool { openAt != nil || opening != nil || mendAt != nil || bank.isStopped(.coordinator) }

  /// Whether its coordinator answers and everybody is at a window.
  var isWell: Bool {
    guard !isInTrouble, let picture = witness.picture else { return false }
    return picture.state == .open && witness.opened == picture.pid
  }

  func turn(_ now: MonotonicTime) {
    witness.turn(now)
    bank.resume(now)
    if let mendAt, now >= mendAt { mend() }
    if let child = opening, let status = child.reap() {
      opening = nil
      // Refused because it is open is as good.
      if !status.isSuccess, status.ending != .code(5) { openAt = now + .milliseconds(500) }
    }
    if let openAt, now >= openAt, opening == nil { open() }
  }

  private func open() {
    openAt = nil
    guard let own = try? Paths.executable() else { return }
    let program = Paths.join(Paths.directory(of: own), "bankctl")
    var words = [
      program, "--home", bank.home.path, "start", "--store", address, "--speed", speed, "--deposit", "2",
      "--loan",
      "1", "--juice", "0",
    ]
    if case .network(let network) = way { words = network.words + words }
    var environment = Environment.all()
    // What somebody has set for a bank of their own is none of this one's business.
    for name in ["BANK_HOME", "BANK_CONFIG", "BANK_CONFIG_DEFAULT", "BANK_STORE"] { environment[name] = nil }
    environment[ChaosBank.variable] = mark
    opening = try? ChildProcess.spawn(
      executable: ChaosTool.find(words[0]) ?? words[0], arguments: Array(words.dropFirst()),
      environment: environment,
      standardOutput: .null, standardError: .append(path: bank.home.path + ".opening"), newSession: true)
  }

  // MARK: - What is done to it

  /// Everybody is killed. It is opened again at a moment.
  func kill(until moment: MonotonicTime) {
    opening?.end()
    opening = nil
    bank.end()
    atWindows = []
    openAt = moment
  }

  /// Forgets who was at its windows: those are somebody else's by now, or will be.
  func takeAtWindows() -> Set<ChaosTicket> {
    defer { atWindows = [] }
    return atWindows
  }

  func cut(until moment: MonotonicTime) -> Bool {
    switch way {
    case .direct: return false
    case .network(let network): guard network.cut() else { return false }
    case .relay(let relay): relay.cut()
    }
    mendAt = moment
    return true
  }

  func mend() {
    guard mendAt != nil else { return }
    mendAt = nil
    switch way {
    case .direct: break
    case .network(let network): network.mend()
    case .relay(let relay): relay.mend()
    }
  }

  /// Whether it is closed and nobody is left.
  func end() {
    opening?.end()
    bank.end()
    switch way {
    case .direct: break
    case .network(let network): network.remove()
    case .relay(let relay): relay.end()
    }
  }
}
