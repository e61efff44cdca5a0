// The address of the database that several branches share: its valid forms, and that no password is ever
// accepted or repeated.

import BankModel
import Testing

@testable import Configuration

@Suite("The address of a shared database") struct StoreAddressTests {
  private func read(_ text: String) throws(ConfigurationError) -> BankConfiguration {
    try BankConfiguration.decode(bytes: Array(text.utf8), path: "bank.json")
  }

  private func fault(_ text: String) -> StoreAddress.Fault? {
    do throws(StoreAddress.Fault) {
      _ = try StoreAddress(text)
      return nil
    } catch { return error }
  }

  @Test(
    "every address that the library reads is valid",
    arguments: [
      "postgres://bank@db/bank", "postgresql://db", "postgres://", "postgres:///bank?service=branch",
      "postgres://bank@db1,db2:5433,[::1]:5434/bank?sslmode=verify-full&target_session_attrs=read-write",
      "postgres://%2Fvar%2Frun%2Fpostgresql/bank", "postgres:///bank?host=/tmp&passfile=/etc/pass",
      "postgres://[fe80::1]/b",
      "postgres://bank@db:/bank",
    ])
  func good(text: String) throws { #expect(try StoreAddress(text).description == text) }

  @Test(
    "an invalid address is refused",
    arguments: [
      "", "bank.db", "mysql://db/bank", "host=db dbname=bank", "Postgres://db", "postgres:/db",
      "postgres://db/a b",
      "postgres://db/\u{0}", "postgres://db/\u{1B}[0m", "postgres://" + String(repeating: "a", count: 2_048),
    ])
  func bad(text: String) { #expect(fault(text) == .notAnAddress) }

  @Test(
    "a password is refused in every place",
    arguments: [
      "postgres://bank:hunter2@db/bank", "postgres://bank:@db/bank", "postgres://:hunter2@db/bank",
      "postgres://bank:hun/ter2@db/bank", "postgres://bank:hun@ter2@db/bank",
      "postgres://bank:12?x@db/bank", "postgres://bank:12#x@db/bank", "postgres://db?user=a:b@c",
      "postgres://db/bank?password=hunter2",
      "postgres://db/bank?sslmode=require&password=hunter2", "postgres://db/?pass%77ord=hunter2",
      "postgres://db/bank?sslpassword=hunter2", "postgres://db?PASSWORD=hunter2",
      "postgres://bank:hunter 2@db/bank",
      "postgres://db/bank?scram_client_key=hunter2",
    ])
  func secret(text: String) { #expect(fault(text) == .password, "\(text)") }

  @Test(
    "a port is a number",
    arguments: ["postgres://db:x/b", "postgres://db:0/b", "postgres://a,b:65536/b", "postgres://db:+1/b"])
  func port(text: String) { #expect(fault(text) == .port) }

  @Test(
    "every fault has a sentence with the remedy, in both languages", arguments: StoreAddress.Fault.allCases
  )
  func words(fault: StoreAddress.Fault) {
    let (english, korean) = (fault.message(in: .english), fault.message(in: .korean))
    #expect(english.contains("postgres://") && korean.contains("postgres://"))
    #expect(korean.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) })
    #expect(!english.contains("\n") && !korean.contains("\n"))
    if fault == .password { #expect(english.contains("~/.pgpass") && korean.contains("~/.pgpass")) }
  }

  @Test("a file has it alone or with its other settings")
  func file() throws {
    let address = try StoreAddress("postgres://bank@db/bank")
    #expect(try read(#"{"store": "postgres://bank@db/bank"}"#).store.address == address)
    let all = try read(#"{"store": {"url": "postgres://bank@db/bank", "claim_size": 1, "branch": "서울"}}"#)
      .store
    #expect(all.address == address && all.page == 1 && all.branch == "서울")
    #expect(try read(#"{"store": null}"#) == BankConfiguration())
    #expect(try read(#"{"store": {"url": null, "branch": null}}"#) == BankConfiguration())
    #expect(try read("{}").store.page == 100)
  }

  @Test("a file with a mistake is reported by key and line, and nothing of its text is shown")
  func mistakes() throws {
    let files = [
      #""store": "postgres://bank:hunter2@db/bank""#,
      #""store": {"url": "postgres://db/bank?password=hunter2"}"#,
      #""store": "hunter2""#,
    ]
    for file in files {
      let error = try #require(throws: ConfigurationError.self) { _ = try read("{\n\(file)}") }
      for language in Language.allCases {
        let message = error.message(in: language)
        #expect(
          message.hasPrefix("bank.json:2: ") && message.contains("store") && !message.contains("hunter2"),
          "\(message)")
      }
    }
    for file in [
      #"{"store": 5}"#, #"{"store": {"claim_size": 0}}"#, #"{"store": {"claim_size": 10001}}"#,
      #"{"store": {"branch": ""}}"#,
      #"{"store": {"password": "hunter2"}}"#, #"{"store": {"branch": "a\nb"}}"#,
    ] {
      #expect(throws: ConfigurationError.self) { _ = try read(file) }
    }
  }

  @Test("a choice outside of the file precedes it, and the file's other settings stay")
  func choice() throws {
    let text = #"{"store": {"url": "postgres://one/bank", "claim_size": 7}}"#
    let read = try LoadedConfiguration(bytes: Array(text.utf8), path: "bank.json")
    let settings = read.settings(with: [
      (.store(try StoreAddress("postgres://two/bank")), .environment("BANK_STORE"))
    ])
    let url = settings.first { $0.key == "store.url" }
    #expect(url?.value == .words("postgres://two/bank") && url?.source == .environment("BANK_STORE"))
    #expect(settings.first { $0.key == "store.claim_size" }?.value == .number(7))
  }
}
