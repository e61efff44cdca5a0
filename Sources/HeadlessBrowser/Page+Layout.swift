// Owns whether what a page shows can be seen and used: nothing beyond the right edge, targets that a finger hits.
// It knows no page; what it finds it describes as a person would.

extension Page {
  /// The elements that reach beyond the right or the left edge of the window, as a person would describe them. The width of the
  /// document does not tell: whatever is cut off or fixed adds nothing to it. What scrolls sideways inside a strip of its own
  /// that is itself inside the window is meant to.
  package func beyondTheEdge() throws(BrowserError) -> [String] {
    try evaluate(
      """
      (() => {
        const width = document.documentElement.clientWidth, found = [];
        const scrolls = element => {
          for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) {
            const way = getComputedStyle(up).overflowX;
            if ((way === "auto" || way === "scroll") && up.getBoundingClientRect().right <= width + 0.5) return true;
          }
          return false;
        };
        // What only a screen reader finds is cut down to a point, or not displayed at all.
        const hidden = element => {
          const box = element.getBoundingClientRect();
          return box.width <= 1 || box.height <= 1 || getComputedStyle(element).visibility === "hidden";
        };
        for (const element of document.body.querySelectorAll("*")) {
          const box = element.getBoundingClientRect();
          if (box.right <= width + 0.5 && box.left >= -0.5) continue;
          if (hidden(element) || scrolls(element)) continue;
          const name = element.tagName.toLowerCase() + (element.id ? "#" + element.id : "")
            + (element.getAttribute("class") ? "." + element.getAttribute("class").replaceAll(" ", ".") : "");
          found.push(`${name} ${Math.round(box.left)}–${Math.round(box.right)} of ${width}: ` +
            element.textContent.trim().slice(0, 40));
        }
        if (document.scrollingElement.scrollWidth > width)
          found.push(`the document is ${document.scrollingElement.scrollWidth} wide`);
        return found;
      })()
      """
    ).items.compactMap(\.text)
  }

  /// The buttons, links and fields that are smaller than a finger wants, which is this many CSS pixels each way. A link in the
  /// midst of a sentence is as large as its words. WCAG 2.5.5
  package func smallTargets(_ least: Int = 44) throws(BrowserError) -> [String] {
    try evaluate(
      """
      (() => {
        const found = [];
        for (const element of document.querySelectorAll("a[href],button,input:not([type=hidden]),select,textarea,summary")) {
          let box = element.getBoundingClientRect();
          if (box.width <= 1 || box.height <= 1) continue;
          if (element.tagName === "A" && getComputedStyle(element).display === "inline") continue;
          // A label is part of what it names: whoever hits it hits that.
          const label = element.closest("label");
          if (label) box = label.getBoundingClientRect();
          if (box.width >= \(least) - 0.5 && box.height >= \(least) - 0.5) continue;
          found.push(`${element.outerHTML.slice(0, 120)}: ${Math.round(box.width)} × ${Math.round(box.height)}`);
        }
        return found;
      })()
      """
    ).items.compactMap(\.text)
  }

  /// The controls that have no name for whoever hears the page instead of seeing it.
  package func namelessControls() throws(BrowserError) -> [String] {
    let tree = try ask("Accessibility.getFullAXTree")["nodes"].items
    let roles: Set = [
      "button", "link", "textbox", "combobox", "checkbox", "radio", "spinbutton", "dialog", "image", "slider",
    ]
    return tree.filter { node in
      node["ignored"].flag != true && roles.contains(node["role"]["value"].text ?? "")
        && (node["name"]["value"].text ?? "").isEmpty
    }.map { "\($0["role"]["value"].text ?? "") \($0["backendDOMNodeId"])" }
  }
}
