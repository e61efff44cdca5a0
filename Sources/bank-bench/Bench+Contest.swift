// Owns how the bank is measured beside others: the same work for each in turn, round after round, and how many times
// as fast the bank was in each round. It must not know the work.
// Invariant: a ratio compares two figures of one round, because disks and processors that are shared with others are
// never the same for long. Failure: BenchFailure, of whoever could not be measured.

/// Somebody beside whom the bank is measured: another queue, or what the machine can do at all.
struct Rival {
  let name: String
  /// How many times as fast the bank shall be.
  var target: Target?
  let measure: () throws -> Double
}

extension Bench {
  /// Measures the bank and everybody beside it, and takes a row for each into the report. The note to the bank's figure is
  /// asked for when everything was measured.
  func contest(
    _ group: String, _ name: String, target: Target? = nil, against rivals: [Rival],
    note: () -> String = { "" }, _ measure: () throws -> Double
  ) throws {
    var figures: [Double] = []
    var others = [[Double]](repeating: [], count: rivals.count)
    for _ in 0..<thoroughness.rounds {
      figures.append(try measure())
      for (index, rival) in rivals.enumerated() { others[index].append(try rival.measure()) }
    }
    add(group, name, "/s", Samples(figures), target: target, note: note())
    var bars = [("the bank", Samples(figures).median)]
    for (rival, theirs) in zip(rivals, others) {
      let ratios = zip(figures, theirs).map { $0 / $1 }
      add(
        group, "  against \(rival.name)", "×", Samples(ratios), target: rival.target,
        note: "\(Figure.text(Samples(theirs).median)) /s")
      bars.append((rival.name, Samples(theirs).median))
    }
    chart(name, bars)
  }

  /// Two beanstalkds where the program is installed, one that syncs every write and one that keeps nothing; and what
  /// the bank shall be against each, in that order.
  func beanstalks(
    _ targets: [Target?], _ measure: @escaping (BeanstalkServer, BeanstalkCare) throws -> Double
  ) throws -> (servers: [BeanstalkServer], rivals: [Rival]) {
    guard BeanstalkServer.isInstalled else { return ([], []) }
    var servers: [BeanstalkServer] = []
    var rivals: [Rival] = []
    for (care, target) in zip(BeanstalkCare.allCases, targets) {
      let server = try BeanstalkServer(self, care)
      servers.append(server)
      rivals.append(Rival(name: care.rawValue, target: target) { try measure(server, care) })
    }
    return (servers, rivals)
  }
}
