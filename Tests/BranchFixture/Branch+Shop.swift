// What tests say about the juice shop again and again: orders, amounts, and what must be true of them.
import Testing

extension Branch {
  /// What is in stock, by name.
  public func stock(at location: SourceLocation = #_sourceLocation) throws -> [String: Int] {
    let items = try json("stock", at: location)["items"].items
    return Dictionary(
      items.map { ($0["item"].text ?? "?", $0["quantity"].integer ?? -1) }, uniquingKeysWith: { $1 })
  }

  /// Orders a juice and returns how the command ended.
  public func order(
    _ words: String..., language: Tongue = .ko, at location: SourceLocation = #_sourceLocation
  )
    throws
    -> Outcome
  {
    try launch(["juice", "order"] + words, language: language).finish(at: location)
  }

  /// Orders a juice that nobody will make now, in JSON, and gives up soon. On a busy machine the stock itself may need longer
  /// than that to say what there is: then nothing was ordered, and it is asked again.
  public func orderImpatiently(_ words: String..., at location: SourceLocation = #_sourceLocation) throws
    -> Outcome
  {
    while true {
      let outcome = try launch(["juice", "order"] + words + ["--timeout", "300ms", "--json"]).finish(
        at: location)
      guard outcome.out.contains("\"stock_unavailable\"") else { return outcome }
    }
  }

  /// Writes a file of fruits and juices into the home, from where it is read before any other.
  public func assortment(_ text: String) throws { _ = try write(text, to: "home/stock.json") }
}

/// The juices of the original and what they are made of.
public enum Recipes {
  public static let all: [String: [String: Int]] = [
    "strawberry": ["strawberry": 16], "banana": ["banana": 2], "kiwi": ["kiwi": 3],
    "pineapple": ["pineapple": 2],
    "strawberry-banana": ["strawberry": 10, "banana": 1], "mango": ["mango": 3],
    "mango-kiwi": ["mango": 2, "kiwi": 1],
  ]

  public static let fresh = ["strawberry": 10, "banana": 10, "pineapple": 10, "kiwi": 10, "mango": 10]
}
