// Text of users is text everywhere, and never an element or an attribute.

import Testing
import WebPages

@Suite("Text that is HTML")
struct HTMLTests {
  @Test("a value is escaped, in an element as in an attribute, and what is HTML already is not")
  func escaping() {
    let hostile = #"<script>alert("1 & '2'")</script>"#
    let safe = "&lt;script&gt;alert(&quot;1 &amp; &#39;2&#39;&quot;)&lt;/script&gt;"
    let inner: HTML = "<b>\(hostile)</b>"
    #expect(inner.text == "<b>\(safe)</b>")
    let outer: HTML = #"<p title="\#(hostile)">\#(inner)</p>"#
    #expect(outer.text == #"<p title="\#(safe)"><b>\#(safe)</b></p>"#)
    #expect(HTML(escaping: hostile).text == safe)
  }

  @Test("no control character gets into a document, but for line breaks and tabs")
  func controls() {
    #expect(HTML(escaping: "a\u{0}b\u{1B}[2Jc\u{7F}\n\td").text == "a\u{FFFD}b\u{FFFD}[2Jc\u{FFFD}\n\td")
  }

  @Test(
    "no mark that changes the direction of text gets into a document, others of its bytes stay")
  func directions() {
    for mark: Unicode.Scalar in [
      "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2067}", "\u{2068}",
      "\u{2069}",
    ] { #expect(HTML(escaping: "a\(mark)b").text == "a\u{FFFD}b", "\(mark.value)") }
    for text in ["a–b…c • ✓ ✗ €", "\u{2029}\u{202F}\u{2065}\u{206A}", "שלום 7"] {
      #expect(HTML(escaping: text).text == text)
    }
  }

  @Test("Korean, emoji and numbers stay unchanged; an empty text is empty")
  func plain() {
    let none: HTML? = nil
    let row: HTML = "\("7 - 예금 🍓") \(Int64.min) \(none)\([HTML("<i>"), HTML("</i>")])"
    #expect(row.text == "7 - 예금 🍓 -9223372036854775808 <i></i>")
  }
}
