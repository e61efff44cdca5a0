// Checks of visibility and usability: content beyond the edges of the window, small touch targets, and controls without
// a name. Each check returns descriptions of the elements that do not pass it.

extension Page {
  /// Elements that extend beyond the right or left edge of the window, with tag, id, class and text. The document width
  /// is not sufficient as a check, because clipped and fixed elements do not change it. Horizontal scrolling inside an
  /// element that fits the window is allowed.
  package func overflowingElements() throws(BrowserError) -> [String] {
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
        // Elements for screen readers only are clipped to a point, or not displayed.
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

  /// Buttons, links and fields that are narrower or lower than a touch target of this many CSS pixels. A link within a
  /// sentence may be as small as its text (WCAG 2.5.5).
  package func smallTargets(_ least: Int = 44) throws(BrowserError) -> [String] {
    try evaluate(
      """
      (() => {
        const found = [];
        for (const element of document.querySelectorAll("a[href],button,input:not([type=hidden]),select,textarea,summary")) {
          let box = element.getBoundingClientRect();
          if (box.width <= 1 || box.height <= 1) continue;
          if (element.tagName === "A" && getComputedStyle(element).display === "inline") continue;
          // A label is part of its control: a click on it counts.
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

  /// Controls and images without an accessible name for screen readers: role, and the browser's number of the element.
  package func unlabelledControls() throws(BrowserError) -> [String] {
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
