// The rates at which customers come and are served: their values during events, zero when nothing has
// happened for their span, and the notification of that.

import BankModel
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Rates of arrival and service")
struct ThroughputTests {
  private static let begin = MonotonicTime(nanoseconds: 1_234_567_890_123)

  private static func at(_ milliseconds: Int64) -> MonotonicTime { begin + .milliseconds(milliseconds) }

  private static func throughput(served: Int64 = 0, issued: Int64 = 0) -> Throughput {
    Throughput(day: 1, served: served, issued: issued, byService: [served], at: begin)
  }

  @Test("ten customers a second are ten a second, over every span")
  func steady() {
    var throughput = Self.throughput(served: 500, issued: 700)
    for step in 1...7_000 {
      let count = Int64(step)
      throughput.note(
        day: 1, served: 500 + count, issued: 700 + 2 * count, byService: [500 + count],
        at: Self.at(count * 100))
    }
    let rates = throughput.rates
    for (rate, expected) in [
      (rates.servedSecond, 10_000), (rates.servedTenSeconds, 10_000), (rates.servedTenMinutes, 10_000),
      (rates.issuedSecond, 20_000), (rates.issuedTenSeconds, 20_000), (rates.issuedTenMinutes, 20_000),
    ] as [(Int64, Int64)] {
      #expect(abs(rate - expected) <= expected / 8, "\(rates)")
    }
    let services = throughput.servedTenMinutes(of: [7_500])
    #expect(services.count == 1 && abs(services[0] - 10_000) <= 200, "\(services)")
  }

  @Test(
    "events before this process count in no rate, and a new day makes none below zero")
  func days() {
    var throughput = Self.throughput(served: 9_000, issued: 9_000)
    throughput.note(day: 1, served: 9_000, issued: 9_000, byService: [9_000], at: Self.at(500))
    #expect(throughput.rates == BoardRates())
    throughput.note(day: 2, served: 3, issued: 5, byService: [3], at: Self.at(900))
    #expect(throughput.rates.servedSecond == 3_000 && throughput.rates.issuedTenMinutes == 5_000)
    #expect(throughput.servedTenMinutes(of: [3]) == [3_000])
  }

  @Test(
    "served customers of each service are counted in parts of six seconds, over ten minutes")
  func parts() {
    var throughput = Throughput(day: 1, served: 50, issued: 50, byService: [50, 0], at: Self.begin)
    var total = 0 as Int64
    // In step 3 four customers, in step 5 two of the other service, and one in the current step.
    func serve(_ count: Int64, _ byService: [Int64], step: Int64) {
      total += count
      throughput.note(
        day: 1, served: 50 + total, issued: 50 + total, byService: byService,
        at: Self.at(step * 6_000 + 3_000))
    }
    for (step, count, byService) in [(3, 4, [54, 0]), (4, 0, [54, 0]), (5, 2, [54, 2]), (6, 0, [54, 2])]
      as [(
        Int64, Int64, [Int64]
      )]
    { serve(count, byService, step: step) }
    #expect(throughput.servedByStep(of: [55, 2, 0]) == [[4, 0, 0, 1], [2, 0], []])
    let began = throughput.longStepBegan
    #expect(began <= Self.at(39_000) && began > Self.at(33_000))
    // Counts older than ten minutes are not reported.
    serve(0, [55, 2], step: 104)
    #expect(throughput.servedByStep(of: [55, 2]).map(\.count) == [99, 100])
    serve(0, [55, 2], step: 300)
    #expect(throughput.servedByStep(of: [55, 2]) == [[], []])
  }

  @Test("a new day keeps the counts of customers served before it")
  func partsOverDays() {
    var throughput = Self.throughput()
    throughput.note(day: 1, served: 7, issued: 7, byService: [7], at: Self.at(7_000))
    throughput.note(day: 1, served: 7, issued: 7, byService: [7], at: Self.at(13_000))
    throughput.note(day: 2, served: 2, issued: 2, byService: [2], at: Self.at(19_000))
    #expect(throughput.servedByStep(of: [2]).map { $0.reduce(0, +) } == [9])
    #expect(throughput.servedByStep(of: [2])[0].first == 7 && throughput.servedByStep(of: [2])[0].last == 2)
    #expect(throughput.servedTenMinutes(of: [2])[0] > 0)
  }

  @Test("tickets that a full disk takes back are no rate below zero")
  func takenBack() {
    var throughput = Self.throughput()
    throughput.note(day: 1, served: 0, issued: 10, byService: [0], at: Self.at(100))
    throughput.note(day: 1, served: 0, issued: 4, byService: [0], at: Self.at(200))
    #expect(throughput.rates.issuedSecond >= 0 && throughput.rates.issuedTenSeconds >= 0)
  }

  @Test("a viewer that looks when asked to sees every rate run out, and is not asked again")
  func runOut() {
    var throughput = Self.throughput()
    throughput.note(day: 1, served: 1, issued: 1, byService: [1], at: Self.at(30))
    var (shown, checks) = (Self.at(30), 0)
    var seen: [(at: Int64, rates: BoardRates)] = []
    while let next = throughput.nextUpdate(after: shown) {
      checks += 1
      #expect(next > shown)
      guard checks < 1_000, next > shown else { return }
      shown = next
      throughput.note(day: 1, served: 1, issued: 1, byService: [1], at: shown)
      seen.append((shown.since(Self.begin).milliseconds, throughput.rates))
    }
    #expect(checks < 40, "an idle bank makes few snapshots")
    #expect(throughput.rates == BoardRates() && throughput.servedTenMinutes(of: [1]) == [0])
    #expect(seen.last.map { $0.at > 600_000 && $0.at < 607_000 } == true, "\(seen.count)")
    let second = seen.first { $0.rates.servedSecond == 0 }
    #expect(second.map { $0.at > 1_000 && $0.at <= 1_140 } == true)
    #expect(second?.rates.servedTenSeconds != 0)
    let ten = seen.first { $0.rates.servedTenSeconds == 0 }
    #expect(ten.map { $0.at > 10_000 && $0.at <= 11_200 } == true)
    #expect(ten?.rates.servedTenMinutes != 0)
  }

  @Test("a bank that was idle for a day counts later events, and none twice")
  func afterIdleness() {
    var throughput = Self.throughput()
    throughput.note(day: 1, served: 0, issued: 5, byService: [0], at: Self.at(100))
    let day: Int64 = 86_400_000
    throughput.note(day: 1, served: 4, issued: 7, byService: [4], at: Self.at(day))
    let rates = throughput.rates
    #expect((3_600...4_000).contains(rates.servedSecond), "\(rates)")
    #expect((1_800...2_000).contains(rates.issuedSecond), "\(rates)")
    #expect(throughput.servedTenMinutes(of: [4])[0] > 0)
  }
}
