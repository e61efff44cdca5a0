// Injection of each fault into the branches, the network and the database.
// Invariant: a fault is counted only if its target exists: a coordinator that has exited cannot be killed. A fault that
// waits for a call or a transaction is counted when it is planned.

#if HAS_POSTGRES
  import BankModel
  import Glibc
  import Posix
  import Time
  import Wire

  extension BranchSimulation {
    /// Draws one of the elements; nil if there are none.
    private func some<Element>(of elements: [Element]) -> Element? {
      elements.isEmpty ? nil : elements[Int(chance.draw(0...Int64(elements.count) - 1))]
    }

    /// Injects a drawn fault at a drawn branch, and schedules the next fault.
    func injectFault() {
      guard !isFaultFree else { return }
      let interval = plan.interval.nanoseconds
      eventQueue.add(.fault, at: clock.now + TimeSpan(nanoseconds: chance.draw(interval / 4...interval * 2)))
      guard let fault = plan.draw(&chance), let node = some(of: nodes) else { return }
      trace.line(clock.now, "fault: \(fault.name) at \(node.index)")
      switch fault {
      case .branchKilled:
        hit(node.process, fault) { _ in
          node.notStartedBefore = clock.now + .milliseconds(chance.draw(100...9_000))
          node.kill()
        }
      case .branchStalled:
        let long = chance.draw(0...3) == 0
        hit(node.process, fault) { _ in
          node.stall(
            until: clock.now + .milliseconds(long ? chance.draw(10_000...60_000) : chance.draw(500...9_000)))
        }
      case .coordinatorKilled:
        hit(node.process, fault) { $0.callsUntilKill = Int(chance.draw(0...300)) }
      case .coordinatorStalled:
        hit(node.process, fault) { $0.stall(until: clock.now + .milliseconds(chance.draw(50...8_000))) }
      case .tellerKilled, .tellerStuck, .tellerSlow, .tellerFailed: injectTellerFault(fault, node)
      case .connectionLost:
        hit(some(of: network.open), fault) { network.cut($0) }
      case .transactionLate: armFault(node, fault, .late)
      case .replyLost: armFault(node, fault, .unanswered)
      case .killedInTransaction: armFault(node, fault, .afterEpochEnd)
      case .branchPartitioned:
        statistics.note(fault)
        network.partition(node.index, for: .milliseconds(chance.draw(100...9_000)))
      case .networkSlow:
        statistics.note(fault)
        network.conditions[node.index].slowUntil = clock.now + .milliseconds(chance.draw(200...4_000))
      case .databaseUnavailable:
        statistics.note(fault)
        network.crashServer(for: .milliseconds(chance.draw(20...(chance.draw(0...2) == 0 ? 8_000 : 1_500))))
      case .databaseReplaced:
        // This fault is possible only after a branch has joined the database.
        hit(server.branches.first, fault) { _ in
          network.crashServer(for: .zero)
          server.emptyUntil = clock.now + .milliseconds(chance.draw(200...6_000))
        }
      case .serverPromoted:
        statistics.note(fault)
        network.crashServer(for: .milliseconds(chance.draw(0...300)))
        server.timeline += 1
        network.formerServerUntil = clock.now + .milliseconds(chance.draw(500...8_000))
      case .databaseFull:
        statistics.note(fault)
        server.fullUntil = clock.now + .milliseconds(chance.draw(10...2_500))
      case .databaseConflict:
        statistics.note(fault)
        server.conflicts += Int(chance.draw(1...4))
      case .notificationLost:
        statistics.note(fault)
        network.notificationsToLose += Int(chance.draw(1...6))
      case .clockJumped:
        statistics.note(fault)
        node.host.calendarOrigin += chance.draw(-14_400_000...14_400_000) * 1_000_000
      case .clientLost:
        hit(some(of: node.clients.filter(\.isReady)), fault) { $0.breakConnection() }
      case .clientStoppedReading:
        hit(some(of: node.clients), fault) { client in
          let process = client.line.process
          process.stop()
          eventQueue.add(
            .descriptorsRestored(node.index, process.pid),
            at: clock.now + .milliseconds(chance.draw(1...3_000)))
        }
      case .windowsScaled:
        hit(node.clients.first(where: \.isReady), fault) { client in
          let service: ServiceName = chance.draw(0...1) == 0 ? .deposit : .loan
          for count in [0, chance.draw(1...3)] {
            client.ask(.init(command: .scale([ServiceWindows(service: service, count: count)])))
          }
        }
      case .branchClosed:
        hit(node.clients.first(where: \.isReady), fault) { client in
          let timeout: Int64? = chance.draw(0...1) == 0 ? nil : chance.draw(0...400)
          client.ask(
            .init(command: .stop(StopParameters(now: chance.draw(0...1) == 0, timeoutMilliseconds: timeout))))
        }
      }
    }

    /// Counts a fault, and plans it for the branch's next transaction with one of the `faultableStatements`, such as a
    /// claim or a commit. Does nothing if the coordinator of the branch is not running.
    private func armFault(
      _ node: BranchNode, _ fault: BranchFault, _ plannedFault: DatabaseNetwork.PlannedFault
    ) {
      hit(node.process, fault) { _ in network.armFault(at: node.index, plannedFault) }
    }

    /// Counts the fault and applies it to its target; does nothing without a target.
    private func hit<Target>(_ target: Target?, _ fault: BranchFault, _ body: (Target) -> Void) {
      guard let target else { return }
      statistics.note(fault)
      body(target)
    }

    /// Kills, stops, or stalls a drawn teller of the branch, or makes its next work fail.
    private func injectTellerFault(_ fault: BranchFault, _ node: BranchNode) {
      hit(some(of: node.tellers), fault) { teller in
        switch fault {
        case .tellerKilled: teller.process.callsUntilKill = Int(chance.draw(0...12))
        case .tellerStuck: teller.process.stop()
        case .tellerSlow: teller.process.stall(until: clock.now + .milliseconds(chance.draw(20...4_000)))
        default: teller.provider?.failsNext = true
        }
      }
    }
  }
#endif
