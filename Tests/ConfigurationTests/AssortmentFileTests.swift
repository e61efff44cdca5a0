// The file of fruits, juices and recipes: its valid contents, and the sentence for each fault.

import BankModel
import Posix
import Testing

@testable import Configuration

@Suite("The file of fruits and juices")
struct AssortmentFileTests {
  private func decode(_ text: String) throws -> Assortment {
    try AssortmentFile.decode(bytes: Array(text.utf8), path: "config/stock.json")
  }

  private static let fruit = #"{ "id": "kiwi", "ko": "키위", "en": "kiwi", "emoji": "🥝", "initial": 7 }"#
  private static let juice = #"{ "id": "kiwi", "ko": "키위쥬스", "en": "kiwi juice", "recipe": { "kiwi": 3 } }"#

  private static func file(_ fruits: String = fruit, _ juices: String = juice) -> String {
    "{\n\"fruits\": [\(fruits)],\n\"juices\": [\(juices)]\n}"
  }

  @Test("in the repository has exactly the built-in contents")
  func repository() throws {
    let root = Paths.directory(of: Paths.directory(of: Paths.directory(of: #filePath)))
    #expect(try AssortmentFile.load(path: Paths.join(root, "config", "stock.json")) == .standard)
  }

  @Test("gives its contents")
  func plain() throws {
    let assortment = try decode(Self.file())
    #expect(assortment.fruits.map(\.initial) == [7])
    #expect(assortment.juice(called: "키위쥬스")?.recipe == [ItemAmount(ItemID("kiwi"), 3)])
    #expect(assortment.fruit(called: "키위")?.emoji == "🥝")
    #expect(try decode(Self.file(Self.fruit.replacing(#", "initial": 7"#, with: ""))).fruits[0].initial == 10)
    #expect(try decode(Self.file(Self.fruit, "")).juices == [])
  }

  @Test("that is missing has an error of its own")
  func missing() {
    let error = #expect(throws: ConfigurationError.self) { try AssortmentFile.load(path: "/no/stock.json") }
    #expect(error == ConfigurationError(path: "/no/stock.json", reason: .notFound))
  }

  private static func changed(_ old: String, _ new: String) -> String { file().replacing(old, with: new) }

  private static let refusals: [(String, String)] = [
    ("{}", #":1: "fruits" is missing; add it"#),
    (#"{"fruits": []}"#, #":1: "juices" is missing; add it"#),
    (file("", ""), #":2: "fruits" must not be empty"#),
    (changed(#""ko": "키위", "#, ""), #":2: "ko" is missing in "fruits[1]"; add it"#),
    (
      changed(#""recipe": { "kiwi": 3 }"#, #""recipe": {}"#),
      #":3: "juices[1].recipe" must not be empty"#
    ),
    (
      changed(#"{ "kiwi": 3 }"#, #"{ "kiwy": 3 }"#),
      #":3: there is no fruit "kiwy" ("juices[1].recipe.kiwy") — did you mean "kiwi"?"#
    ),
    (
      changed(#"{ "kiwi": 3 }"#, #"{ "kiwi": 0 }"#),
      #":3: "juices[1].recipe.kiwi" is 0; write a value from 1 to 1000000"#
    ),
    (
      changed(#"{ "kiwi": 3 }"#, #"{ "kiwi": -3 }"#),
      #":3: "juices[1].recipe.kiwi" is -3; write a value from 1 to 1000000"#
    ),
    (
      changed(#"{ "kiwi": 3 }"#, #"{ "kiwi": 1000001 }"#),
      #":3: "juices[1].recipe.kiwi" is 1000001; write a value from 1 to 1000000"#
    ),
    (
      changed(#"{ "kiwi": 3 }"#, #"{ "kiwi": 3, "kiwi": 4 }"#),
      #":3: "juices[1].recipe.kiwi" appears twice; keep one of them"#
    ),
    (
      changed(#""initial": 7"#, #""initial": -1"#),
      #":2: "fruits[1].initial" is -1; write a value from 0 to 1000000"#
    ),
    (file(fruit + ",\n" + fruit), #":3: the name "kiwi" is used twice ("fruits[2].id"); names must differ"#),
    (
      file(fruit, juice + "," + juice),
      #":3: the name "kiwi" is used twice ("juices[2].id"); names must differ"#
    ),
    (
      changed(#"{ "id": "kiwi", "ko": "키위","#, #"{ "id": "Kiwi", "ko": "키위","#),
      #":2: "fruits[1].id" is "Kiwi"; write lower-case letters, digits and "-", beginning with a letter"#
    ),
    (
      changed(#""emoji": "🥝""#, #""emoji": """#),
      #":2: "fruits[1].emoji" is not a valid name; write 1 to 4 characters on one line"#
    ),
    (
      changed(#""emoji": "🥝""#, #""emoji": 3"#),
      #":2: "fruits[1].emoji" is a number; write a string in quotes"#
    ),
    (changed(#""emoji""#, #""emojo""#), #":2: unknown key "emojo" — did you mean "emoji"?"#),
    (#"{"fruits": {}, "juices": []}"#, #":1: "fruits" is an object; write a list in brackets"#),
    (#"{"fruits": [3], "juices": []}"#, #":1: "fruits[1]" is a number; write an object in braces"#),
    ("{", ":1: this is not JSON: the file ends too early; a brace, a quote or a value is missing"),
  ]

  @Test("is refused with the line and what to do", arguments: refusals)
  func refused(_ text: String, _ sentence: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try decode(text) }
    #expect(error?.message(in: .english) == "config/stock.json" + sentence)
    let korean = try #require(error).message(in: .korean)
    #expect(korean.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) })
  }
}
