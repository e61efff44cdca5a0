// The product table of the vending machine: its valid contents, and the sentence for each fault.

import BankModel
import Posix
import Testing

@testable import Configuration

@Suite("The file of products")
struct ProductFileTests {
  private func decode(_ text: String) throws -> ProductTable {
    try ProductFile.decode(bytes: Array(text.utf8), path: "config/vending.json")
  }

  private static let top = """
    { "id": "top", "class": "Top", "brand": "맥심", "ml": 275, "price": 1700, "ko": "맥심TOP", "en": "Maxim", \
    "emoji": "☕", "caffeine_mg": 100, "degrees": 65, "black": true }
    """
  private static let coke = """
    { "id": "coke", "class": "Coke", "brand": "팹시", "ml": 350, "price": 3500, "ko": "코카콜라", "en": "Cola", \
    "emoji": "🥤", "container": "bottle", "flavour": "vanilla", "shelf_life_days": 90 }
    """

  private static func file(_ products: String = top + ",\n" + coke) -> String {
    "{\n\"products\": [\(products)]\n}"
  }

  @Test("in the repository has exactly the built-in contents")
  func repository() throws {
    let root = Paths.directory(of: Paths.directory(of: Paths.directory(of: #filePath)))
    #expect(try ProductFile.load(path: Paths.join(root, "config", "vending.json")) == .standard)
  }

  @Test("gives its contents")
  func plain() throws {
    let table = try decode(Self.file())
    #expect(table.products.map(\.id.name) == ["top", "coke"] && table.customersGroup == nil)
    #expect(table.products.map(\.shelfLife) == [7, 90])
    #expect(table.products[1].drinkClass == .coke(.bottle, .vanilla))
    #expect(try decode("{\"customers_group\": \"bar\", \"products\": [\(Self.top)]}").customersGroup == "bar")
  }

  @Test("defines another product of an existing class without a line of code")
  func anotherOne() throws {
    let more = Self.top.replacing("\"top\"", with: "\"roots\"").replacing("맥심TOP", with: "루츠")
      .replacing("Maxim", with: "Roots")
    let table = try decode(Self.file(Self.top + ", " + more))
    let product = try #require(table[ItemID("roots")])
    #expect(BeverageFactory.make(product, LotDates(made: 0, expires: 7)) is Top)
  }

  private static func changed(_ old: String, _ new: String) -> String { file().replacing(old, with: new) }

  private static let refusals: [(String, String)] = [
    ("{}", #":1: "products" is missing; add it"#),
    (file(""), #":2: "products" must not be empty"#),
    (
      changed(#""class": "Top""#, #""class": "Tea""#),
      #":2: "products[1].class" is "Tea"; write one of "BananaMilk""#
    ),
    (changed(#""class": "Top", "#, ""), #":2: "class" is missing in "products[1]"; add it"#),
    (
      changed(#""black": true"#, #""black": 1"#), #":2: "products[1].black" is a number; write true or false"#
    ),
    (changed(#", "black": true"#, ""), #":2: "black" is missing in "products[1]"; add it"#),
    (changed(#""flavour": "vanilla", "#, ""), #":3: "flavour" is missing in "products[2]"; add it"#),
    (
      changed(#""flavour": "vanilla""#, #""flavour": "lime""#),
      #"is "lime"; write one of "cherry", "vanilla""#
    ),
    (changed(#""container": "bottle""#, #""container": "bag""#), #"is "bag"; write one of "can", "bottle""#),
    (changed(#""flavour""#, #""black": true, "flavour""#), #":3: unknown key "black""#),
    (changed(#""price": 1700"#, #""price": 0"#), #"is 0; write a value from 1 to 1000000"#),
    (changed(#""price": 1700"#, #""price": 1000001"#), #"is 1000001; write a value from 1 to 1000000"#),
    (changed(#""price": 1700"#, #""price": 1700.5"#), #"is 1700.5, which is not a 64-bit integer"#),
    (changed(#""ml": 275"#, #""ml": -1"#), #"is -1; write a value from 1 to 100000"#),
    (changed(#""id": "coke""#, #""id": "top""#), #"the name "top" is used twice ("products[2].id")"#),
    (changed("코카콜라", "맥심TOP"), #"the name "맥심TOP" is used twice"#),
    (changed(#""id": "top""#, #""id": "T op""#), #"is "T op"; write lower-case letters"#),
    (
      changed(#""shelf_life_days": 90"#, #""shelf_life_days": -1"#),
      #"is -1; write a value from 0 to 36500"#
    ),
    (changed(#""degrees": 65"#, #""degrees": 165"#), #"is 165; write a value from -50 to 100"#),
    ("[]", #"write an object in braces"#), ("{\"products\": 7}", "write a list in brackets"),
    ("", "the file ends too early"),
  ]

  @Test("with a value without meaning is refused with its line and what to do", arguments: refusals)
  func refused(_ text: String, _ sentence: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try decode(text) }
    #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    #expect(error?.message(in: .korean).hasPrefix("config/vending.json:") == true)
  }

  @Test("that is missing has an error of its own")
  func missing() {
    let error = #expect(throws: ConfigurationError.self) { try ProductFile.load(path: "/no/vending.json") }
    #expect(error == ConfigurationError(path: "/no/vending.json", reason: .notFound))
  }
}
