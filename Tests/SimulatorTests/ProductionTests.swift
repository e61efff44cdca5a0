// Inspection of the programs that run in the simulated world, object by object, so that none of them is a
// copy of production code: all expected types are found, and of the simulator's own only those named here.

import Testing

@testable import Simulator

@Suite("Production code runs in the simulator")
struct ProductionTests {
  /// All objects reachable from a program, by the names of the types without their generic arguments.
  private struct Findings {
    /// All of them, with their modules.
    private(set) var types: Set<String> = []
    private var seen: Set<ObjectIdentifier> = []

    /// Looks through a value and everything that it holds. Into types of the simulator it looks only at the
    /// top: the world is reachable from them, and with the world everything else.
    mutating func inspect(through value: Any, isTop: Bool = true) {
      let mirror = Mirror(reflecting: value)
      if mirror.displayStyle == .class {
        guard seen.insert(ObjectIdentifier(value as AnyObject)).inserted else { return }
      }
      let name = Self.name(of: mirror.subjectType)
      types.insert(name)
      guard isTop || !name.hasPrefix("Simulator.") else { return }
      var layer: Mirror? = mirror
      while let present = layer {
        for child in present.children { inspect(through: child.value, isTop: false) }
        layer = present.superclassMirror
      }
    }

    /// Adds the findings of another look.
    mutating func formUnion(_ other: Findings) { types.formUnion(other.types) }

    private static func name(of type: Any.Type) -> String {
      // The name of a private nested type has its context in brackets, and that of a generic one its
      // arguments.
      let name = String(reflecting: type).split(separator: "<", maxSplits: 1).first.map(String.init) ?? ""
      return name.hasPrefix("Simulator.") ? ProductionTests.outermost(name) : name
    }

    /// Those of the simulator.
    var own: Set<String> { types.filter { $0.hasPrefix("Simulator.") } }
  }

  /// The name without that of a private nested type.
  private static func outermost(_ name: String) -> String {
    String(name.split(separator: ".(", maxSplits: 1).first ?? "")
  }

  /// The findings in the programs of a few histories, by the program's type.
  private static func inspect() -> [String: Findings] {
    var found: [String: Findings] = [:]
    let guarded = (1...100 as ClosedRange<UInt64>).first { GuardState(seed: $0).isEnabled } ?? 1
    // 63 has many commands.
    for seed in Set([1, 2, 3, 63, guarded]) {
      var turns = 0
      _ = Simulation.run(
        seed: seed,
        inspect: { world in
          turns += 1
          guard turns % 100 == 0 else { return }
          for (_, process) in world.host.processes {
            // A command is a user's program: there is nothing of it in production.
            guard !(process.body is CommandProgram || process.body is CommandChild) else { continue }
            let service = (process.body as? SupervisedProgram)?.service
            for case let program? in [process.body, service] {
              // The same program is inspected again: its objects change over time.
              var findings = Findings()
              findings.inspect(through: program)
              found[String(reflecting: type(of: program)), default: Findings()].formUnion(findings)
            }
          }
        })
    }
    return found
  }

  @Test("the processes of the host are production code from the kernel up, and nothing is copied")
  func programs() throws {
    let service: Set = [
      "Posix.EventLoop", "Transport.Listener", "Transport.MessageChannel", "Transport.ServiceSocket",
      "Transport.ClientSession", "Transport.ServiceSubscriptions", "ServiceProcess.ServiceServer",
      "ServiceProcess.MachineDriver",
    ]
    let channel: Set = ["Posix.EventLoop", "Transport.MessageChannel"]
    let client = channel.union(["Transport.ServiceClient"])
    let expected: [String: (production: Set<String>, own: Set<String>)] = [
      "Simulator.ServiceProgram<StockService.StockService<Simulator.InstrumentedStock>, Simulator.SimulatedStockStore>":
        (
          service.union(["StockService.StockService", "StockService.StockPersistence"]),
          [
            "Simulator.ServiceProgram", "Simulator.SimulatedProcess", "Simulator.SimulatedStockStore",
            "Simulator.InstrumentedStock",
          ]
        ),
      "Simulator.ServiceProgram<VendingMachine.VendingService<Simulator.InstrumentedVending>, Simulator.SimulatedVendingStore>":
        (
          service.union(client).union([
            "VendingMachine.VendingService", "VendingMachine.VendingPersistence",
          ]),
          [
            "Simulator.ServiceProgram", "Simulator.SimulatedProcess", "Simulator.SimulatedVendingStore",
            "Simulator.InstrumentedVending",
          ]
        ),
      "Simulator.ClientProgram<Transport.ServiceClient<Wire.StockCommand>>": (
        client, ["Simulator.ClientProgram"]
      ),
      "Simulator.ClientProgram<Transport.ServiceClient<Wire.VendingCommand>>": (
        client, ["Simulator.ClientProgram"]
      ),
      "Simulator.SupervisedProgram": (
        channel.union(["Transport.SupervisorConnection"]),
        ["Simulator.SupervisedProgram", "Simulator.ServiceProgram"]
      ),
      "Simulator.ClientProgram<Transport.MessageChannel<Wire.BankMessage, Wire.ClientMessage>>": (
        channel, ["Simulator.ClientProgram"]
      ),
      "Simulator.WorkerProgram": (
        client.union(["Teller.TellerProcess", "JuiceStation.FruitProvider"]),
        ["Simulator.WorkerProgram", "Simulator.SimulatedProvider"]
      ),
      "Simulator.RunnerProgram": (
        channel.union([
          "Teller.TellerProcess", "CommandExecutor.CommandProvider", "CommandRunner.RunningCommand",
          "CommandRunner.ProcessTree", "CommandRunner.OutputCapture", "Posix.SignalSource",
        ]),
        ["Simulator.RunnerProgram"]
      ),
      "Simulator.GuardianProgram": (
        [
          "Posix.EventLoop", "Posix.ChildProcess", "Guardian.Guardian", "Guardian.GuardedHome",
          "Logging.LogFile",
        ],
        ["Simulator.GuardianProgram"]
      ),
      "Simulator.CoordinatorProgram": (
        client.union([
          "Transport.Listener", "Coordinator.Coordinator", "Coordinator.BankContext",
          "Coordinator.QueueDriver", "Coordinator.CommitEngine", "Coordinator.EnqueueHandler",
          "Coordinator.EnqueueQueue", "Coordinator.RequestRouter", "Coordinator.RequestTable",
          "Coordinator.DurableReads", "Coordinator.IncrementalCommands", "Coordinator.Subscriptions",
          "Coordinator.TellerEventHandler", "Coordinator.ServiceProcesses", "Coordinator.WindowPlan",
          "Coordinator.StartupController", "Coordinator.ShutdownController", "Coordinator.Audits",
          "Coordinator.HomeRepair",
          "Coordinator.TellerSupervisor", "Coordinator.ServiceSupervisor", "Coordinator.ControlServer",
          "Coordinator.ControlSession", "Coordinator.ReleaseQueue", "Coordinator.GuardianSupervisor",
          "Coordinator.HomeLock", "Coordinator.Heartbeat",
          "Logging.LogFile",
        ]),
        [
          "Simulator.CoordinatorProgram", "Simulator.SimulatedProcess", "Simulator.SimulatedQueueStore",
          "Simulator.SimulationQueueObserver", "Simulator.InFlightMemory",
        ]
      ),
    ]
    let found = Self.inspect()
    #expect(Set(found.keys) == Set(expected.keys), "these programs run in the simulated world")
    for (program, findings) in found {
      guard let (production, own) = expected[program] else { continue }
      #expect(production.subtracting(findings.types) == [], "does not run in \(program)")
      #expect(findings.own.subtracting(own) == [], "is in \(program) instead of something")
    }
  }
}
