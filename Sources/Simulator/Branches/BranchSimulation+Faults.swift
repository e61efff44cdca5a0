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
    private func some<Element>(of elements: [Element]) -> Element? {
      elements.isEmpty ? nil : elements[Int(chance.draw(0...Int64(elements.count) - 1))]
    }

    func goWrong() {
      guard !isCalm else { return }
      let interval = plan.interval.nanoseconds
      agenda.add(.fault, at: clock.now + TimeSpan(nanoseconds: chance.draw(interval / 4...interval * 2)))
      guard let fault = plan.draw(&chance), let office = some(of: offices) else { return }
      trace.line(clock.now, "fault: \(fault.name) at \(office.place)")
      switch fault {
      case .branchKilled:
        hit(office.process, fault) { _ in
          office.isDeadUntil = clock.now + .milliseconds(chance.draw(100...9_000))
          office.kill()
        }
      case .branchAsleep:
        let long = chance.draw(0...3) == 0
        hit(office.process, fault) { _ in
          office.slumber(
            until: clock.now + .milliseconds(long ? chance.draw(10_000...60_000) : chance.draw(500...9_000)))
        }
      case .coordinatorKilled:
        hit(office.process, fault) { $0.fuse = Int(chance.draw(0...300)) }
      case .coordinatorStalled:
        hit(office.process, fault) { $0.stand(until: clock.now + .milliseconds(chance.draw(50...8_000))) }
      case .tellerKilled, .tellerStuck, .tellerSlow, .tellerFailed: troubleTeller(fault, office)
      case .connectionLost:
        hit(some(of: network.open), fault) { network.cut($0) }
      case .transactionLate: lieInWait(office, fault, .late)
      case .replyLost: lieInWait(office, fault, .unanswered)
      case .diesAtWork: lieInWait(office, fault, .untilTheEpochEnds)
      case .branchPartitioned:
        statistics.note(fault)
        network.partition(office.place, for: .milliseconds(chance.draw(100...9_000)))
      case .networkSlow:
        statistics.note(fault)
        network.weather[office.place].isSlowUntil = clock.now + .milliseconds(chance.draw(200...4_000))
      case .booksAway:
        statistics.note(fault)
        network.loseServer(for: .milliseconds(chance.draw(20...(chance.draw(0...2) == 0 ? 8_000 : 1_500))))
      case .booksReplaced:
        // This fault is possible only after a branch has joined the database.
        hit(books.branches.first, fault) { _ in
          network.loseServer(for: .zero)
          books.emptyUntil = clock.now + .milliseconds(chance.draw(200...6_000))
        }
      case .serverPromoted:
        statistics.note(fault)
        network.loseServer(for: .milliseconds(chance.draw(0...300)))
        books.timeline += 1
        network.isFormerThereUntil = clock.now + .milliseconds(chance.draw(500...8_000))
      case .booksFull:
        statistics.note(fault)
        books.fullUntil = clock.now + .milliseconds(chance.draw(10...2_500))
      case .booksInTheWay:
        statistics.note(fault)
        books.conflicts += Int(chance.draw(1...4))
      case .notificationLost:
        statistics.note(fault)
        network.deafness += Int(chance.draw(1...6))
      case .clockJumped:
        statistics.note(fault)
        office.host.calendarOrigin += chance.draw(-14_400_000...14_400_000) * 1_000_000
      case .clientLost:
        hit(some(of: office.clients.filter(\.isReady)), fault) { $0.breakOff() }
      case .clientDeaf:
        hit(some(of: office.clients), fault) { client in
          let process = client.line.process
          process.stop()
          agenda.add(
            .relief(office.place, process.pid), at: clock.now + .milliseconds(chance.draw(1...3_000)))
        }
      case .windowsScaled:
        hit(office.clients.first(where: \.isReady), fault) { client in
          let service: ServiceName = chance.draw(0...1) == 0 ? .deposit : .loan
          for count in [0, chance.draw(1...3)] {
            client.ask(.init(command: .scale([ServiceWindows(service: service, count: count)])))
          }
        }
      case .branchClosed:
        hit(office.clients.first(where: \.isReady), fault) { client in
          let timeout: Int64? = chance.draw(0...1) == 0 ? nil : chance.draw(0...400)
          client.ask(
            .init(command: .stop(StopOrder(now: chance.draw(0...1) == 0, timeoutMilliseconds: timeout))))
        }
      }
    }

    private func lieInWait(_ office: BranchOffice, _ fault: BranchFault, _ ambush: BooksNetwork.Ambush) {
      hit(office.process, fault) { _ in network.lieInWait(at: office.place, ambush) }
    }

    private func hit<Target>(_ target: Target?, _ fault: BranchFault, _ body: (Target) -> Void) {
      guard let target else { return }
      statistics.note(fault)
      body(target)
    }

    private func troubleTeller(_ fault: BranchFault, _ office: BranchOffice) {
      hit(some(of: office.tellers), fault) { teller in
        switch fault {
        case .tellerKilled: teller.process.fuse = Int(chance.draw(0...12))
        case .tellerStuck: teller.process.stop()
        case .tellerSlow: teller.process.stand(until: clock.now + .milliseconds(chance.draw(20...4_000)))
        default: teller.provider?.failsNext = true
        }
      }
    }
  }
#endif
