// The precedence of flags, environment and files.
import BankModel
import ControlClient
import Posix
import Testing

@testable import BankctlCommands

private func environment(
  _ variables: [String: String], files: Set<String> = [], languages: [String: Language] = [:]
) -> ProcessEnvironment {
  ProcessEnvironment(
    variable: { variables[$0].flatMap { $0.isEmpty ? nil : $0 } },
    absolute: { path throws(SystemError) in path.hasPrefix("/") ? path : "/here/" + path },
    isFile: { files.contains($0) }, configuredLanguage: { languages[$0] },
    executable: { "/usr/local/bin/bankctl" },
    launcher: { () throws(ControlError) in throw .programMissing(places: []) })
}

@Test("the home: flag, BANK_HOME, XDG_STATE_HOME, HOME, and always absolute")
func home() throws {
  var variables = ["HOME": "/root", "XDG_STATE_HOME": "/state", "BANK_HOME": "bank"]
  #expect(try environment(variables).home(flag: "x").path == "/here/x")
  #expect(try environment(variables).home(flag: nil).path == "/here/bank")
  variables["BANK_HOME"] = ""
  #expect(try environment(variables).home(flag: nil).path == "/state/bank")
  variables["XDG_STATE_HOME"] = "relative"
  #expect(try environment(variables).home(flag: nil).path == "/root/.local/state/bank")
  #expect(throws: CommandError.self) { _ = try environment([:]).home(flag: nil) }
}

@Test("the configuration: flag, BANK_CONFIG, the home's, BANK_CONFIG_DEFAULT, the installation's, none")
func configuration() throws {
  let home = BankHome(path: "/h")
  var variables = ["BANK_CONFIG": "c.json", "BANK_CONFIG_DEFAULT": "/d.json"]
  let files: Set = ["/h/bank.json", "/usr/local/share/bank/bank.json"]
  #expect(
    try environment(variables, files: files).configuration(flag: "f.json", home: home) == "/here/f.json")
  #expect(try environment(variables, files: files).configuration(flag: nil, home: home) == "/here/c.json")
  variables["BANK_CONFIG"] = nil
  #expect(try environment(variables, files: files).configuration(flag: nil, home: home) == "/h/bank.json")
  #expect(try environment(variables).configuration(flag: nil, home: home) == "/d.json")
  #expect(
    try environment([:], files: ["/usr/local/share/bank/bank.json"]).configuration(flag: nil, home: home)
      == "/usr/local/share/bank/bank.json")
  #expect(try environment([:]).configuration(flag: nil, home: home) == nil)
}

@Test("the source of the configuration is known")
func source() throws {
  let home = BankHome(path: "/h")
  let variables = ["BANK_CONFIG": "c.json", "BANK_CONFIG_DEFAULT": "/d.json"]
  let files: Set = ["/h/bank.json", "/usr/local/share/bank/bank.json"]
  func chosen(_ variables: [String: String], _ files: Set<String>, flag: String? = nil) throws
    -> ChosenConfiguration?
  {
    try environment(variables, files: files).chosenConfiguration(flag: flag, home: home)
  }
  #expect(
    try chosen(variables, files, flag: "f.json") == ChosenConfiguration("/here/f.json", by: .option))
  #expect(
    try chosen(variables, files) == ChosenConfiguration("/here/c.json", by: .environment("BANK_CONFIG")))
  #expect(try chosen([:], files) == ChosenConfiguration("/h/bank.json", by: .home))
  #expect(
    try chosen(["BANK_CONFIG_DEFAULT": "/d.json"], [])
      == ChosenConfiguration("/d.json", by: .environment("BANK_CONFIG_DEFAULT")))
  #expect(
    try chosen([:], ["/usr/local/share/bank/bank.json"])
      == ChosenConfiguration("/usr/local/share/bank/bank.json", by: .installation))
  #expect(try chosen([:], []) == nil)
}

@Test("the language: flag, BANK_LANG, the configuration's, the locale's")
func language() {
  let variables = ["BANK_LANG": "en", "LC_ALL": "ko_KR.UTF-8"]
  let languages: [String: Language] = ["/c": .english]
  #expect(environment(variables).language(flag: "ko", configuration: "/c") == .korean)
  #expect(environment(variables).language(flag: nil, configuration: nil) == .english)
  #expect(
    environment(["LANG": "ko_KR"], languages: languages).language(flag: nil, configuration: "/c") == .english
  )
  #expect(environment(["LANG": "ko_KR"]).language(flag: nil, configuration: "/c") == .korean)
  #expect(environment(["LC_ALL": "", "LC_MESSAGES": "C", "LANG": "ko"]).languageWithoutFile == .english)
  #expect(environment(["BANK_LANG": "xx", "LANG": "ko"]).languageWithoutFile == .korean)
  #expect(environment([:]).languageWithoutFile == .english)
}

@Test("the same seed draws the same customers, and 10 to 30 without a number")
func customers() {
  #expect(OpenCommand.customers(nil, seed: 5) == OpenCommand.customers(nil, seed: 5))
  #expect(OpenCommand.customers(7, seed: 5).seed == OpenCommand.customers(nil, seed: 5).seed)
  let counts = Set((0..<1000).map { OpenCommand.customers(nil, seed: $0).count })
  #expect(counts == Set(10...30))
}
