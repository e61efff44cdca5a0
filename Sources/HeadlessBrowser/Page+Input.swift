// User input in a page: clicks, text and keys, sent as input events of the browser.
// Errors: `BrowserError` with the reason, such as the element that covers the one to click.

extension Page {
  /// Clicks the middle of the first element that matches a selector.
  ///
  /// - Throws: an error if no element matches, if it is outside the viewport, or if another element covers it.
  package func click(_ selector: String) throws(BrowserError) {
    // The layout may move until the document is complete.
    try wait(for: "document.readyState === 'complete'")
    let point = try middle(of: selector)
    for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
      try ask(
        "Input.dispatchMouseEvent",
        [
          "type": .text(kind), "x": point["x"], "y": point["y"],
          "button": kind == "mouseMoved" ? "none" : "left", "clickCount": kind == "mouseMoved" ? 0 : 1,
        ])
    }
  }

  /// Scrolls to the first element that matches a selector and returns its middle as `x` and `y`; throws if it cannot be
  /// clicked there.
  private func middle(of selector: String) throws(BrowserError) -> JSONValue {
    let point = try evaluate(
      """
      (() => {
        const element = document.querySelector(\(JSONValue.text(selector)));
        if (!element) return "there is no such element";
        element.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
        const box = element.getBoundingClientRect();
        const x = box.left + box.width / 2, y = box.top + box.height / 2;
        const hit = document.elementFromPoint(x, y);
        if (!hit) return "it is outside the viewport";
        if (!element.contains(hit) && !hit.contains(element)) return "it is covered by: " + hit.outerHTML.slice(0, 200);
        return {x, y};
      })()
      """)
    if let why = point.text { throw BrowserError("\(selector) cannot be clicked: \(why)") }
    return point
  }

  /// Replaces the text of the first element that matches a selector. The page receives input events, but no key events.
  package func type(_ text: String, into selector: String) throws(BrowserError) {
    let found = try evaluate(
      """
      (() => {
        const element = document.querySelector(\(JSONValue.text(selector)));
        element?.focus();
        element?.select?.();
        return element !== null && document.activeElement === element;
      })()
      """)
    guard found.flag == true else { throw BrowserError("text cannot be typed into \(selector)") }
    try ask("Input.insertText", ["text": .text(text)])
  }

  /// A key other than a character.
  package enum Key: String, Sendable {
    case enter = "Enter"
    case tab = "Tab"
    case escape = "Escape"
    case space = " "

    /// Code of the key as a number (`windowsVirtualKeyCode`).
    var code: Int {
      switch self {
      case .enter: 13
      case .tab: 9
      case .escape: 27
      case .space: 32
      }
    }
    /// Text that the key inserts; nil for none.
    var text: String? {
      switch self {
      case .enter: "\r"
      case .space: " "
      case .tab, .escape: nil
      }
    }
  }

  /// Presses and releases a key in the focused element.
  package func press(_ key: Key) throws(BrowserError) {
    var down: [String: JSONValue] = [
      "type": "keyDown", "key": .text(key.rawValue), "code": .text(key == .space ? "Space" : key.rawValue),
      "windowsVirtualKeyCode": .number(Double(key.code)),
    ]
    if let text = key.text { down["text"] = .text(text) }
    try ask("Input.dispatchKeyEvent", .object(down))
    down["type"] = "keyUp"
    down["text"] = nil
    try ask("Input.dispatchKeyEvent", .object(down))
  }
}
