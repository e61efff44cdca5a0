// Form elements of several pages: hidden fields, buttons, choices.
// Invariant: a form contains the key of its document; in an event stream the key is empty, and the script sets one for
// each press. For a read-only viewer the buttons of forms are disabled.
import BankModel

extension PageFrame {
  /// A form that sends a change, with the idempotency key of the document.
  ///
  /// - Parameters:
  ///   - attributes: further attributes of its tag, with a space before them.
  ///   - fields: hidden fields.
  func form(
    _ action: String, _ fields: [(name: HTML, value: String)] = [], attributes: HTML = "", _ inside: HTML
  ) -> HTML {
    """
    <form method="post" action="\(action)"\(attributes)><input type="hidden" name="key" value="\(key)">\
    \(fields.map { hidden($0.name, $0.value) })\(inside)</form>
    """
  }

  /// A hidden field of a form.
  func hidden(_ name: HTML, _ value: String) -> HTML {
    #"<input type="hidden" name="\#(name)" value="\#(value)">"#
  }

  /// Attribute that disables a button for a read-only viewer.
  var disabledAttribute: HTML { isReadOnly ? " disabled" : "" }

  /// A submit button, disabled for a read-only viewer.
  func button(_ text: String, _ cssClass: HTML = "", attributes: HTML = "") -> HTML {
    #"<button class="\#(cssClass)"\#(attributes)\#(disabledAttribute)>\#(text)</button>"#
  }

  /// A drop-down list with its label.
  func select(_ name: HTML, _ label: String, _ options: [(value: String, text: String)], chosen: String)
    -> HTML
  {
    let rows = options.map { option -> HTML in
      let isChosen: HTML? = option.value == chosen ? " selected" : nil
      return #"<option value="\#(option.value)"\#(isChosen)>\#(option.text)</option>"#
    }
    return #"<label class="field"><span>\#(label)</span><select name="\#(name)">\#(rows)</select></label>"#
  }

  /// A field for a whole number in a range, with its label.
  func number(
    _ name: HTML, _ label: String, value: Int64?, in range: ClosedRange<Int64>, isRequired: Bool = true
  ) -> HTML {
    let required: HTML? = isRequired ? " required" : nil
    return """
      <label class="field"><span>\(label)</span><input type="number" inputmode="numeric" name="\(name)" \
      min="\(range.lowerBound)" max="\(range.upperBound)" value="\(value.map { "\($0)" } ?? "")"\(required)></label>
      """
  }

  /// A choice of one service. The text of the first option is `first`, and its value is "".
  func serviceChoice(_ services: [ServiceName], _ first: String, chosen: ServiceName?) -> HTML {
    select(
      "service", messages.service,
      [("", first)] + services.map { ($0.text, messages.phrases.service($0)) }, chosen: chosen?.text ?? "")
  }

  /// Filter of the list after it: the list shows all rows, or only those with the class `is-NAME`. The style sheet
  /// alone implements it, so the filter keeps its state while the list changes, and needs neither a script nor the
  /// server.
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
