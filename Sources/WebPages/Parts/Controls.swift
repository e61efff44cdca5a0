// Owns the parts of forms that several pages have: hidden fields, buttons, choices. Invariant: every form of the bank carries the
// key of its document, and while nobody may change anything its buttons cannot be pressed, without a script either.
import BankModel

extension PageFrame {
  /// A form that changes something, with its key.
  ///
  /// - Parameters:
  ///   - attributes: what else its tag says, with a space before it.
  ///   - fields: hidden fields.
  func form(
    _ action: String, _ fields: [(name: HTML, value: String)] = [], attributes: HTML = "", _ inside: HTML
  ) -> HTML {
    """
    <form method="post" action="\(action)"\(attributes)><input type="hidden" name="key" value="\(key)">\
    \(fields.map { hidden($0.name, $0.value) })\(inside)</form>
    """
  }

  func hidden(_ name: HTML, _ value: String) -> HTML {
    #"<input type="hidden" name="\#(name)" value="\#(value)">"#
  }

  /// What keeps a button from being pressed, as a part of its tag.
  var locked: HTML { isReadOnly ? " disabled" : "" }

  /// A button that sends its form.
  func button(_ text: String, _ look: HTML = "", attributes: HTML = "") -> HTML {
    #"<button class="\#(look)"\#(attributes)\#(locked)>\#(text)</button>"#
  }

  /// A choice of one.
  func select(_ name: HTML, _ label: String, _ options: [(value: String, text: String)], chosen: String)
    -> HTML
  {
    let rows = options.map { option -> HTML in
      let isChosen: HTML? = option.value == chosen ? " selected" : nil
      return #"<option value="\#(option.value)"\#(isChosen)>\#(option.text)</option>"#
    }
    return #"<label class="field"><span>\#(label)</span><select name="\#(name)">\#(rows)</select></label>"#
  }

  /// A number that can be typed, or stepped through by the script's buttons.
  func number(
    _ name: HTML, _ label: String, value: Int64?, in range: ClosedRange<Int64>, isRequired: Bool = true
  ) -> HTML {
    let required: HTML? = isRequired ? " required" : nil
    return """
      <label class="field"><span>\(label)</span><input type="number" inputmode="numeric" name="\(name)" \
      min="\(range.lowerBound)" max="\(range.upperBound)" value="\(value.map { "\($0)" } ?? "")"\(required)></label>
      """
  }

  /// The services to choose from, after all of them.
  func serviceChoice(_ services: [ServiceName], _ first: String, chosen: ServiceName?) -> HTML {
    select(
      "service", words.service,
      [("", first)] + services.map { ($0.text, words.phrases.service($0)) }, chosen: chosen?.text ?? "")
  }

  /// Which rows of the list behind it are shown: those of a class `is-NAME`, or all. The style sheet does it alone, so it stays
  /// as it is while the list changes, and it needs neither a script nor the server.
  func choice(_ label: String, _ options: [(name: HTML, text: String)]) -> HTML {
    let radios = options.enumerated().map { offset, option -> HTML in
      let chosen: HTML? = offset == 0 ? " checked" : nil
      return """
        <label><input type="radio" name="which" id="which-\(option.name)" autocomplete="off"\(chosen)><span>\(option.text)</span></label>
        """
    }
    return #"<fieldset class="which"><legend class="unseen">\#(label)</legend>\#(radios)</fieldset>"#
  }
}
