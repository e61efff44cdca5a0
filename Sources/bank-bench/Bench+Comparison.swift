// Comparison of the bank with baselines. In each round, the bank and the baselines perform the same work in turn, and
// the ratio of the bank's speed to each baseline is computed.
// Invariant: a ratio compares two figures of one round, because the speed of shared disks and processors changes over
// time.
// Errors: BenchFailure if the bank or a baseline could not be measured.

/// A baseline for the bank: another program, a part of the bank, or a limit of the machine.
struct Baseline {
  let name: String
  /// Target of the ratio of the bank's speed to the speed of the baseline.
  var target: Target?
  /// Performs the work once. Returns its rate.
  let measure: () throws -> Double
}

extension Bench {
  /// Measures the bank and all baselines, and adds their rows and a chart to the report. The result of `note` is the
  /// note to the bank's figure.
  func compareWithBaselines(
    _ group: String, _ name: String, target: Target? = nil, against baselines: [Baseline],
    note: () -> String = { "" }, _ measure: () throws -> Double
  ) throws {
    var figures: [Double] = []
    var others = [[Double]](repeating: [], count: baselines.count)
    for _ in 0..<scale.rounds {
      figures.append(try measure())
      for (index, baseline) in baselines.enumerated() { others[index].append(try baseline.measure()) }
    }
    add(group, name, "/s", Samples(figures), target: target, note: note())
    var bars = [("the bank", Samples(figures).median)]
    for (baseline, theirs) in zip(baselines, others) {
      let ratios = zip(figures, theirs).map { $0 / $1 }
      add(
        group, "  against \(baseline.name)", "×", Samples(ratios), target: baseline.target,
        note: "\(NumberFormat.text(Samples(theirs).median)) /s")
      bars.append((baseline.name, Samples(theirs).median))
    }
    chart(name, bars)
  }

  /// Starts a beanstalkd for each target, in the order of ``BeanstalkDurability``, if the program is installed.
  func startBeanstalks(
    _ targets: [Target?], _ measure: @escaping (BeanstalkServer, BeanstalkDurability) throws -> Double
  ) throws -> (servers: [BeanstalkServer], rivals: [Baseline]) {
    guard BeanstalkServer.isInstalled else { return ([], []) }
    var servers: [BeanstalkServer] = []
    var baselines: [Baseline] = []
    for (durability, target) in zip(BeanstalkDurability.allCases, targets) {
      let server = try BeanstalkServer(self, durability)
      servers.append(server)
      baselines.append(
        Baseline(name: durability.rawValue, target: target) { try measure(server, durability) })
    }
    return (servers, baselines)
  }
}
