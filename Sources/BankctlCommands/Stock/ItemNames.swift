// Accepted names of fruits and juices, and suggestions for unknown names.
// Invariant: the name in commands takes precedence. An ambiguous name matches nothing.
import Arguments
import BankModel

/// Search for fruits and juices by the names that users type.
enum ItemNames {
  /// Short Korean names of juices, accepted in addition to those of the assortment.
  private static let shortNames = ["망키쥬스": ItemID("mango-kiwi")]

  /// The fruit with this name in commands, in Korean or in English.
  static func fruit(named name: String, in assortment: Assortment) -> Fruit? {
    let wanted = plain(name)
    return only(assortment.fruits.filter { plain($0.id.name) == wanted })
      ?? only(assortment.fruits.filter { [$0.korean, $0.english].map(plain).contains(wanted) })
  }

  /// The juice with this name. The word "juice" at the end of the name may be omitted.
  static func juice(named name: String, in assortment: Assortment) -> Juice? {
    let wanted = plain(name)
    if let juice = only(assortment.juices.filter { plain($0.id.name) == wanted }) { return juice }
    return only(
      assortment.juices.filter { juice in
        let short = shortNames.filter { $0.value == juice.id }.map(\.key)
        let names = ([juice.korean, juice.english] + short).map(plain)
        return names.contains(wanted) || names.contains(wanted + "쥬스") || names.contains(wanted + "juice")
      })
  }

  /// Names in commands of the known items whose names are similar to an unknown name.
  static func suggestions(for name: String, among known: [(id: ItemID, korean: String)]) -> [String] {
    let near = Suggestions.nearest(to: name, among: known.flatMap { [$0.id.name, $0.korean] })
    var names: [String] = []
    for word in near {
      guard let id = known.first(where: { $0.id.name == word || $0.korean == word })?.id.name else {
        continue
      }
      if !names.contains(id) { names.append(id) }
    }
    return names
  }

  /// The element of a list with one element; otherwise nil.
  private static func only<Thing>(_ things: [Thing]) -> Thing? { things.count == 1 ? things[0] : nil }

  /// A name in one form, so that spaces, case and the two Korean spellings of "juice" make no difference.
  private static func plain(_ name: String) -> String {
    name.filter { !$0.isWhitespace }.lowercased().replacing("주스", with: "쥬스")
  }
}
