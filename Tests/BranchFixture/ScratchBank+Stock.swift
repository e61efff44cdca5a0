// Steps and expectations for the juice shop that several tests share: orders, amounts, invariants.
import Testing

extension ScratchBank {
  /// Amounts in stock, by name.
  public func stock(at location: SourceLocation = #_sourceLocation) throws -> [String: Int] {
    let items = try json("stock", at: location)["items"].items
    return Dictionary(
      items.map { ($0["item"].text ?? "?", $0["quantity"].integer ?? -1) }, uniquingKeysWith: { $1 })
  }

  /// Orders a juice and returns the outcome of the command.
  public func order(
    _ arguments: String..., language: OutputLanguage = .ko, at location: SourceLocation = #_sourceLocation
  )
    throws
    -> Outcome
  {
    try launch(["juice", "order"] + arguments, language: language).finish(at: location)
  }

  /// Orders a juice that no station will make, in JSON, with a short timeout. On a busy machine the stock itself may
  /// need longer than the timeout to report its amounts: then nothing was ordered, and the command is repeated.
  public func orderWithShortTimeout(_ arguments: String..., at location: SourceLocation = #_sourceLocation)
    throws
    -> Outcome
  {
    while true {
      let outcome = try launch(["juice", "order"] + arguments + ["--timeout", "300ms", "--json"]).finish(
        at: location)
      guard outcome.out.contains("\"stock_unavailable\"") else { return outcome }
    }
  }

  /// Writes a file of fruits and juices into the home; it takes precedence over every other such file.
  public func assortment(_ text: String) throws { _ = try write(text, to: "home/stock.json") }
}

/// Juices of the original app and their ingredients.
public enum Recipes {
  public static let all: [String: [String: Int]] = [
    "strawberry": ["strawberry": 16], "banana": ["banana": 2], "kiwi": ["kiwi": 3],
    "pineapple": ["pineapple": 2],
    "strawberry-banana": ["strawberry": 10, "banana": 1], "mango": ["mango": 3],
    "mango-kiwi": ["mango": 2, "kiwi": 1],
  ]

  public static let fresh = ["strawberry": 10, "banana": 10, "pineapple": 10, "kiwi": 10, "mango": 10]
}
