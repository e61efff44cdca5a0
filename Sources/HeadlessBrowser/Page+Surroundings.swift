// What a page finds itself in: the size of its window, a dark or a light room, somebody whom movement disturbs, a language, no
// scripts, cookies, being looked at or not; and what it looks like there.
import JSON

extension Page {
  /// The size of the window, in CSS pixels.
  package func view(width: Int, height: Int) throws(BrowserError) {
    try ask(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
        "mobile": false,
      ])
    // Where a mouse is, the browser knows from what it has drawn; what is not drawn yet is not hit.
    try evaluate(
      """
      document.hidden ? null : new Promise(done => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        setTimeout(done, 1000);
      }).then(() => null)
      """)
  }

  /// From now on every document comes whole, with everything that belongs to it, as to somebody who was never here.
  package func forgetCache() throws(BrowserError) {
    try ask("Network.setCacheDisabled", ["cacheDisabled": true])
  }

  /// What the person prefers.
  package func prefer(dark: Bool, reducedMotion: Bool = false) throws(BrowserError) {
    try ask(
      "Emulation.setEmulatedMedia",
      [
        "features": [
          ["name": "prefers-color-scheme", "value": dark ? "dark" : "light"],
          ["name": "prefers-reduced-motion", "value": reducedMotion ? "reduce" : "no-preference"],
        ]
      ])
  }

  /// What the next documents are told that the person reads, like `ko-KR,ko`.
  package func read(language: String) throws(BrowserError) {
    try ask("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": .text(language)]])
  }

  /// Whether the scripts of the next documents run.
  package func allowScripts(_ allowed: Bool) throws(BrowserError) {
    try ask("Emulation.setScriptExecutionDisabled", ["value": .flag(!allowed)])
  }

  /// A script that the next documents run before their own.
  package func runFirst(_ script: String) throws(BrowserError) {
    try ask("Page.addScriptToEvaluateOnNewDocument", ["source": .text(script)])
  }

  /// Whether the next documents are asked for as if nothing had ever been kept.
  package func ignoreCache(_ ignored: Bool) throws(BrowserError) {
    try ask("Network.setCacheDisabled", ["cacheDisabled": .flag(ignored)])
  }

  /// Puts the page's window away, or before the person's eyes again.
  package func show(_ shown: Bool) throws(BrowserError) {
    // Who has the person's attention is seen, wherever the window is.
    try ask("Emulation.setFocusEmulationEnabled", ["enabled": .flag(shown)])
    let window = try browser.ask("Browser.getWindowForTarget", ["targetId": .text(target)])["windowId"]
    try browser.ask(
      "Browser.setWindowBounds",
      ["windowId": window, "bounds": ["windowState": shown ? "normal" : "minimized"]])
  }

  /// The cookies that the page's person has for where it is.
  package func cookies() throws(BrowserError) -> [JSONValue] {
    try ask("Network.getCookies")["cookies"].items
  }

  /// What is to be seen, as a PNG.
  ///
  /// - Parameter scale: of how many points each pixel of it is made, at each side; less than one is a smaller picture.
  package func screenshot(scale: Double = 1) throws(BrowserError) -> [UInt8] {
    let size = try evaluate("[innerWidth, innerHeight, scrollX, scrollY]")
    let clip: JSONValue = [
      "x": size[2], "y": size[3], "width": size[0], "height": size[1], "scale": .number(scale),
    ]
    let picture = try ask("Page.captureScreenshot", ["format": "png", "clip": clip])["data"].text ?? ""
    do throws(Base64.Fault) { return try Base64.decode(picture) } catch {
      throw BrowserError("the picture is no base64: \(error)")
    }
  }
}
