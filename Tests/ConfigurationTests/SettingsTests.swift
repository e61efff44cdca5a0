// The table of settings, compared with a file's contents, with the settings shown, and with their page. A
// failure of the random configurations prints its seed; `BANK_CONFIGURATION_SEED=N scripts/test
// SettingsTests` repeats it.

import Arguments
import BankModel
import Foundation
import Posix
import Testing
import Time

@testable import Configuration

@Suite("The settings") struct SettingsTests {
  private func read(_ text: String) throws(ConfigurationError) -> LoadedConfiguration {
    try LoadedConfiguration(bytes: Array(text.utf8), path: "bank.json")
  }

  private func shown(_ key: String, _ settings: [EffectiveSetting]) -> EffectiveSetting? {
    settings.first { $0.key == key }
  }

  /// The repository, found from this source file.
  private var repository: String {
    Paths.directory(of: Paths.directory(of: Paths.directory(of: #filePath)))
  }

  /// A file with the settings that are shown, key by key; no service in it has a name with a dot.
  private func file(of settings: [EffectiveSetting]) -> String {
    object(of: settings.map { ($0.key.split(separator: ".").map(String.init)[...], $0.value.fileText) })
      + "\n"
  }

  private func object(of members: [(path: ArraySlice<String>, value: String)]) -> String {
    var groups: [(name: String, members: [(path: ArraySlice<String>, value: String)])] = []
    for (path, value) in members {
      let name = path[path.startIndex]
      if let place = groups.firstIndex(where: { $0.name == name }) {
        groups[place].members.append((path.dropFirst(), value))
      } else {
        groups.append((name, [(path.dropFirst(), value)]))
      }
    }
    let lines = groups.map { group in
      let isValue = group.members[0].path.isEmpty
      return "\"\(group.name)\": \(isValue ? group.members[0].value : object(of: group.members))"
    }
    return "{" + lines.joined(separator: ",\n") + "}"
  }

  @Test("no key is listed twice, and none is the group of another") func keys() {
    let keys = Setting.all.map(\.key)
    #expect(Set(keys).count == keys.count)
    for key in keys { #expect(!keys.contains { $0.hasPrefix(key + ".") }, "\(key)") }
  }

  @Test("the file of the repository has every setting, in the order of the table") func repositoryFile()
    throws
  {
    let read = try LoadedConfiguration(path: Paths.join(repository, "config", "bank.json"))
    let settings = read.settings()
    #expect(Set(read.lines.keys) == Set(settings.map(\.key)))
    let lines = settings.compactMap { read.lines[$0.key] }
    #expect(lines == lines.sorted())
    #expect(settings.map(\.value) == LoadedConfiguration().settings().map(\.value))
  }

  @Test("every setting has its row on the page of the settings, with its default as a file has it")
  func page()
    throws
  {
    let path = Paths.join(repository, "Sources/Configuration/Configuration.docc/Settings.md")
    let rows = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("| `") }.map { $0.split(separator: "|").map(words) }
    var told: Set<String> = []
    for row in rows {
      let settings = row[0].flatMap { name in
        LoadedConfiguration().settings().filter { $0.key == name || $0.key.hasPrefix(name + ".") }
      }
      #expect(row[1] == settings.map(\.value.fileText), "\(row[0])")
      told.formUnion(settings.map(\.key))
    }
    #expect(told == Set(Setting.all.map(\.key)))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for setting in Setting.all {
      guard let group = ["log.", "store."].first(where: setting.key.hasPrefix) else { continue }
      #expect(text.contains("`\(setting.key.dropFirst(group.count))`"), "\(setting.key)")
    }
  }

  /// The text between backquotes.
  private func words(of cell: Substring) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  @Test("a value is shown with its line, and an absent one as built in") func lines()
    throws
  {
    let settings = try read("{\n\"lease\":\n\"5s\", \"log\": {\n\"keep_files\": 7}\n}").settings()
    #expect(shown("lease", settings)?.source == .file(line: 3))
    #expect(shown("lease", settings)?.value == .text("5s"))
    #expect(shown("log.keep_files", settings)?.source == .file(line: 4))
    #expect(shown("log.customer_events", settings)?.source == .builtIn)
    #expect(shown("lang", settings) == EffectiveSetting(key: "lang", value: .null, source: .builtIn))
    #expect(shown("max_waiting", settings)?.value.fileText == "20000000")
  }

  @Test("a choice precedes the file's value, and names its source") func choices() throws {
    let read = try read(#"{"windows": {"loan": 3}, "speed": 2, "lang": "en"}"#)
    let settings = read.settings(with: [
      (.windows(.loan, 5), .option("--loan")), (.speed(.max), .option("--speed")),
      (.language(.korean), .environment("BANK_LANG")),
    ])
    #expect(
      shown("windows.loan", settings)
        == EffectiveSetting(key: "windows.loan", value: .number(5), source: .option("--loan")))
    #expect(shown("windows.deposit", settings)?.source == .builtIn)
    #expect(shown("speed", settings)?.value == .text("max"))
    #expect(shown("lang", settings)?.source == .environment("BANK_LANG"))
    let keys = Set(Setting.all.map(\.key))
    for choice in ServiceName.branch.map({ SettingOverride.windows($0, 1) }) + [
      .speed(.max), .language(.english), .store(try StoreAddress("postgres:///bank")),
    ] {
      #expect(keys.contains(choice.key))
    }
  }

  @Test("differences from an earlier reading are reported with their values") func differences() throws {
    let now = try read(#"{"lease": "5s", "windows": {"loan": 1}}"#)
    #expect(try now.differences(in: read(#"{"lease": "5000ms"}"#)).isEmpty, "the same, written differently")
    let earlier = try read("{\n\"lease\": \"7s\",\n\"log\": {\"customer_events\": false}}")
    #expect(now.differences(in: earlier).map(\.key) == ["lease", "log.customer_events"])
    #expect(now.differences(in: earlier).map(\.value.fileText) == ["\"7s\"", "false"])
  }

  @Test("the settings shown of any configuration, put into a file, are read as the same configuration")
  func fileText() throws {
    let chosen = ProcessInfo.processInfo.environment["BANK_CONFIGURATION_SEED"].flatMap { UInt64($0) }
    for seed in chosen.map({ [$0] }) ?? Array(1...500) {
      var chance = SeededGenerator(seed: seed)
      let drawn = draw(&chance)
      let settings = try read(drawn).settings()
      let again = try read(file(of: settings))
      let why: Comment =
        "seed \(seed): \(drawn); repeat: BANK_CONFIGURATION_SEED=\(seed) scripts/test SettingsTests"
      #expect(try again.configuration == read(drawn).configuration, why)
      #expect(again.settings().map(\.value) == settings.map(\.value), why)
      #expect(again.settings().allSatisfy { $0.source != .builtIn }, why)
    }
  }

  @Test("the settings shown of services of every kind, put into a file, are read as the same")
  func writtenServices() throws {
    let chosen = ProcessInfo.processInfo.environment["BANK_CONFIGURATION_SEED"].flatMap { UInt64($0) }
    for seed in chosen.map({ [$0] }) ?? Array(1...500) {
      var chance = SeededGenerator(seed: seed)
      let drawn = file(of: ServiceKind.allCases.flatMap { drawService($0, &chance) })
      let settings = try read(drawn).settings()
      let again = try read(file(of: settings))
      let why: Comment =
        "seed \(seed): \(drawn); repeat: BANK_CONFIGURATION_SEED=\(seed) scripts/test SettingsTests"
      #expect(try again.configuration == read(drawn).configuration, why)
      #expect(again.settings().map(\.value) == settings.map(\.value), why)
    }
  }

  /// A service with some of the settings of its kind.
  private func drawService(_ kind: ServiceKind, _ chance: inout SeededGenerator) -> [EffectiveSetting] {
    let name = ServiceName("s-\(kind.rawValue)")!
    let (pauses, sides) = (Setting.delayKeys(of: name), Setting.sideKeys(of: name))
    let spans = [chance.draw(0...Self.day), chance.draw(0...Self.day)].sorted().map(fileText)
    var drawn: [EffectiveSetting] = []
    for setting in Setting.ofService(name) where setting.kinds.contains(kind) {
      guard setting.kind != nil || chance.draw(0...1) == 0 else { continue }
      let value: SettingValue =
        switch setting.key {
        case _ where setting.kind == .outside: .flag(true)
        case Setting.windowsKey(name) where kind == .outside: .number(0)
        case pauses.first, pauses.limit, sides.debit, sides.credit: .null
        default: value(of: setting, &chance)
        }
      if value != .null { drawn.append(EffectiveSetting(key: setting.key, value: value, source: .builtIn)) }
    }
    for (key, span) in zip([pauses.first, pauses.limit], spans) {
      drawn.append(EffectiveSetting(key: key, value: span, source: .builtIn))
    }
    if chance.draw(0...1) == 0 {
      let debit = PostingRule.Side.names[Int(chance.draw(0...2))]
      let credit = PostingRule.Side.names.filter { $0 != debit }[Int(chance.draw(0...1))]
      for (key, side) in zip([sides.debit, sides.credit], [debit, credit]) {
        drawn.append(EffectiveSetting(key: key, value: .text(side), source: .builtIn))
      }
    }
    return drawn
  }

  /// A file with some of the settings, each with any valid value.
  private func draw(_ chance: inout SeededGenerator) -> String {
    var drawn: [(key: String, value: SettingValue)] = []
    for setting in Setting.all where chance.draw(0...3) > 0 {
      drawn.append((setting.key, value(of: setting, &chance)))
    }
    // The one rule between two settings: the first pause is not longer than the longest.
    drawn.removeAll { $0.key == Setting.retryInitialDelayKey || $0.key == Setting.retryMaxDelayKey }
    let spans = [chance.draw(0...Self.day), chance.draw(0...Self.day)].sorted().map(fileText)
    drawn += [(Setting.retryInitialDelayKey, spans[0]), (Setting.retryMaxDelayKey, spans[1])]
    return file(of: drawn.map { EffectiveSetting(key: $0.key, value: $0.value, source: .builtIn) })
  }

  private static let day: Int64 = 86_400_000_000_000

  private func fileText(_ nanoseconds: Int64) -> SettingValue {
    .text(DurationText.print(TimeSpan(nanoseconds: nanoseconds)))
  }

  private func value(of setting: Setting, _ chance: inout SeededGenerator) -> SettingValue {
    switch setting.place {
    case .number(_, let bounds), .smallNumber(_, let bounds), .optionalNumber(_, let bounds),
      .optionalSmallNumber(_, let bounds):
      return .number(number(in: bounds, &chance))
    case .span(_, let bounds), .optionalSpan(_, let bounds):
      let from = bounds.lowerBound.nanoseconds
      let drawn = number(in: from...bounds.upperBound.nanoseconds, &chance)
      // Some are round, as people write them, and some are not.
      let grain: Int64 = [1, 1_000, 1_000_000, 1_000_000_000][Int(chance.draw(0...3))]
      return fileText(max(from, drawn - drawn % grain))
    case .flag: return .flag(chance.draw(0...1) == 0)
    case .speed:
      return .text(chance.draw(0...3) == 0 ? "max" : Speed.thousandths(chance.draw(1...50_000)).text)
    case .optionalFraction: return .thousandths(Int32(chance.draw(0...1_000)))
    case .address:
      return [.null, .words("postgres://bank@db1,db2:5433/bank"), .words("postgres:///?service=b")][
        Int(chance.draw(0...2))]
    case .optionalName(_, let limit):
      return [.null, .words("seoul"), .words(String(repeating: "가", count: limit))][Int(chance.draw(0...2))]
    case .path: return .words("/srv/\(words(&chance))")
    case .command, .program:
      return .list(["program"] + (0..<chance.draw(0...3)).map { _ in words(&chance) })
    case .variables: return .table(["LANG": "ko_KR.UTF-8", "A": words(&chance)])
    case .mask: return .text(["0022", "0077", "0000", "0027"][Int(chance.draw(0...3))])
    case .meanings: return .table(["3": "served", "signal": "dead", "75": "pause"])
    case .side: return .text(PostingRule.Side.names[Int(chance.draw(0...2))])
    case .language: return [.null, .text("ko"), .text("en")][Int(chance.draw(0...2))]
    }
  }

  /// A text with letters that JSON has to escape, and others.
  private func words(_ chance: inout SeededGenerator) -> String {
    String(
      (0..<chance.draw(0...12)).map { _ in
        ["a", "\"", "\\", "\n", "가", "\u{1}", "{", " "][Int(chance.draw(0...7))]
      }.joined())
  }

  private func number(in bounds: ClosedRange<Int64>, _ chance: inout SeededGenerator) -> Int64 {
    switch chance.draw(0...5) {
    case 0: bounds.lowerBound
    case 1: bounds.upperBound
    default: chance.draw(bounds)
    }
  }

  @Test("a former name is refused with the present one, in its group and for any service")
  func formerNames() throws {
    let service = try #require(ServiceName("thumbs"))
    let present = Set((Setting.all + Setting.ofService(service)).map(\.key))
    /// A file with one member in the groups above it; returns the error of reading it.
    func error(_ groups: [String], _ member: String) -> ConfigurationError? {
      let text = groups.reversed().reduce("{\"\(member)\": 1}") { "{\"\($1)\": \($0)}" }
      do throws(ConfigurationError) { _ = try read(text) } catch { return error }
      return nil
    }
    func check(_ groups: [String], _ former: String, _ name: String) {
      let parts = former.split(separator: ".").map(String.init)
      let all = groups + parts.dropLast()
      let found = error(all, parts[parts.count - 1])
      #expect(found?.reason == .renamedKey(name) && found?.key == parts.last, "\(all), \(former)")
    }
    for (former, name) in Setting.formerNames {
      check([], former, name)
      let group = former.split(separator: ".").dropLast().map { "\($0)." }.joined()
      #expect(!present.contains(former) && present.contains(group + name), "\(former) is \(name) now")
    }
    for (former, name) in Setting.formerNamesOfServices {
      for service in ["thumbs", "a.b"] { check(["services", service], former, name) }
      let group = (["services", "thumbs"] + former.split(separator: ".").map(String.init).dropLast()).map {
        "\($0)."
      }
      #expect(present.contains(group.joined() + name), "\(former) is \(name) now")
    }
  }
}
