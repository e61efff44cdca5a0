// Drawings of fruits, made for this project.
// Invariant: each drawing is one symbol that a document contains once and refers to by its id.
import BankModel

enum FruitPicture {
  /// Fruits with a drawing.
  private static let known: Set<String> = ["strawberry", "banana", "pineapple", "kiwi", "mango"]

  /// Drawing of a fruit, or its emoji if there is no drawing.
  static func use(_ fruit: ItemID, _ emoji: String) -> HTML {
    guard known.contains(fruit.name) else {
      return emoji.isEmpty ? "" : #"<span class="picture" aria-hidden="true">\#(emoji)</span>"#
    }
    return
      ##"<svg class="picture" viewBox="0 0 64 64" aria-hidden="true"><use href="#fruit-\##(fruit)"/></svg>"##
  }

  /// All symbols. A document contains them once, before their first use.
  static let sprite: HTML = """
    <svg class="sprite" aria-hidden="true"><defs>
    <symbol id="fruit-strawberry" viewBox="0 0 64 64"><path fill="#e5344e" d="M32 60C18 52 8 40 9 28c1-9 10-13 23-10 13-3 22 1 23 \
    10 1 12-9 24-23 32z"/><path fill="#b81f3a" d="M32 60c14-8 24-20 23-32-1-5-4-8-8-10 2 16-4 32-15 42z"/><path fill="#3f9b45" \
    d="M32 19c-6-1-12 1-16 5 0-6 4-10 9-11l-3-8 7 3 3-6 3 6 7-3-3 8c5 1 9 5 9 11-4-4-10-6-16-5z"/><g fill="#ffe08a">\
    <ellipse cx="21" cy="31" rx="1.500" ry="2.300"/><ellipse cx="32" cy="29" rx="1.500" ry="2.300"/><ellipse cx="43" cy="31" rx="1.500" ry="2.300"/>\
    <ellipse cx="26" cy="39" rx="1.500" ry="2.300"/><ellipse cx="38" cy="39" rx="1.500" ry="2.300"/><ellipse cx="32" cy="48" rx="1.500" ry="2.300"/></g></symbol>
    <symbol id="fruit-banana" viewBox="0 0 64 64"><path fill="#f6c945" d="M49 8c7 20-1 42-26 48-7 1-13-1-17-5 18 0 33-14 36-41z"/>\
    <path fill="#dba520" d="M49 8c7 20-1 42-26 48-7 1-13-1-17-5 2 .500 4 .500 6 .500C36 52 46 34 45.500 9z"/><path fill="#6b4a1c" \
    d="m41 4 8-1 1 6-8 2zM6 51l-1-3 4-1 1 4z"/></symbol>
    <symbol id="fruit-pineapple" viewBox="0 0 64 64"><path fill="#3f9b45" d="m32 24-9-6 4-1-9-7 8 1-3-8 7 5 2-7 2 7 7-5-3 8 8-1-9 7 4 1z"/>\
    <ellipse cx="32" cy="42" rx="16" ry="20" fill="#e8a52b"/><path fill="none" stroke="#a86a12" stroke-width="2" d="m19 32 22 28M17 42l14 19M24 \
    25l23 29M33 22l15 20M45 32 23 60m24-18L33 61m7-36L17 54m14-32L16 42"/></symbol>
    <symbol id="fruit-kiwi" viewBox="0 0 64 64"><circle cx="32" cy="33" r="27" fill="#7a5330"/><circle cx="32" cy="33" r="24" fill="#8cc63f"/>\
    <circle cx="32" cy="33" r="16" fill="#a5d65c"/><ellipse cx="32" cy="33" rx="7" ry="8" fill="#f1f5d8"/><g fill="#2a2118">\
    <circle cx="32" cy="19" r="1.700"/><circle cx="40" cy="22" r="1.700"/><circle cx="45" cy="29" r="1.700"/><circle cx="45" cy="37" r="1.700"/>\
    <circle cx="40" cy="44" r="1.700"/><circle cx="32" cy="47" r="1.700"/><circle cx="24" cy="44" r="1.700"/><circle cx="19" cy="37" r="1.700"/>\
    <circle cx="19" cy="29" r="1.700"/><circle cx="24" cy="22" r="1.700"/></g></symbol>
    <symbol id="fruit-mango" viewBox="0 0 64 64"><path fill="#f2992e" d="M41 9c13 2 19 16 15 28-5 14-20 23-34 20C10 55 5 45 9 35c5-14 18-27 \
    32-26z"/><path fill="#e0612d" d="M41 9c13 2 19 16 15 28-5 14-20 23-34 20 18-4 31-24 19-48z" opacity=".800"/><path fill="#ffd27a" d="M17 \
    36c3-8 9-14 16-17-7 6-11 12-13 19z"/><path fill="none" stroke="#6b4a1c" stroke-width="3" stroke-linecap="round" d="M41 9c0-3-1-5-3-6"/>\
    <path fill="#3f9b45" d="M42 8c4-6 11-6 16-3-4 5-11 6-16 3z"/></symbol>
    </defs></svg>
    """
}
