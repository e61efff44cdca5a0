// Environment of a page: window size, cache, colour scheme, reduced motion, language, scripts, visibility and cookies.
// Screenshots of a page.
import JSON

extension Page {
  /// Sets the size of the window in CSS pixels. If the page is visible, waits briefly until it is drawn.
  package func setViewport(width: Int, height: Int) throws(BrowserError) {
    try ask(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
        "mobile": false,
      ])
    // The browser finds the element under the mouse from what it has drawn, so wait for two frames.
    try evaluate(
      """
      document.hidden ? null : new Promise(done => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        setTimeout(done, 1000);
      }).then(() => null)
      """)
  }

  /// Turns the cache off for later documents.
  package func disableCache() throws(BrowserError) {
    try ask("Network.setCacheDisabled", ["cacheDisabled": true])
  }

  /// Sets the colour scheme that the user prefers, and whether the user prefers reduced motion.
  package func emulateMedia(dark: Bool, reducedMotion: Bool = false) throws(BrowserError) {
    try ask(
      "Emulation.setEmulatedMedia",
      [
        "features": [
          ["name": "prefers-color-scheme", "value": dark ? "dark" : "light"],
          ["name": "prefers-reduced-motion", "value": reducedMotion ? "reduce" : "no-preference"],
        ]
      ])
  }

  /// Sets the Accept-Language header of the next requests, such as `ko-KR,ko`.
  package func setAcceptLanguage(language: String) throws(BrowserError) {
    try ask("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": .text(language)]])
  }

  /// Turns scripts of the next documents on or off.
  package func allowScripts(_ allowed: Bool) throws(BrowserError) {
    try ask("Emulation.setScriptExecutionDisabled", ["value": .flag(!allowed)])
  }

  /// Makes the next documents run a script before their own scripts.
  package func addInitialScript(_ script: String) throws(BrowserError) {
    try ask("Page.addScriptToEvaluateOnNewDocument", ["source": .text(script)])
  }

  /// Turns the cache of the next documents off if the argument is true, or on.
  package func ignoreCache(_ ignored: Bool) throws(BrowserError) {
    try ask("Network.setCacheDisabled", ["cacheDisabled": .flag(ignored)])
  }

  /// Hides the page's window, or shows it again.
  package func setVisible(_ shown: Bool) throws(BrowserError) {
    // Focus emulation would keep a minimised window visible for the page.
    try ask("Emulation.setFocusEmulationEnabled", ["enabled": .flag(shown)])
    let window = try browser.ask("Browser.getWindowForTarget", ["targetId": .text(target)])["windowId"]
    try browser.ask(
      "Browser.setWindowBounds",
      ["windowId": window, "bounds": ["windowState": shown ? "normal" : "minimized"]])
  }

  /// Cookies that the browser sends to the page's address, each as a JSON object.
  package func cookies() throws(BrowserError) -> [JSONValue] {
    try ask("Network.getCookies")["cookies"].items
  }

  /// Screenshot of the visible part of the page as a PNG.
  ///
  /// - Parameter scale: size of the image relative to the window, in both directions.
  package func screenshot(scale: Double = 1) throws(BrowserError) -> [UInt8] {
    let size = try evaluate("[innerWidth, innerHeight, scrollX, scrollY]")
    let clip: JSONValue = [
      "x": size[2], "y": size[3], "width": size[0], "height": size[1], "scale": .number(scale),
    ]
    let screenshot = try ask("Page.captureScreenshot", ["format": "png", "clip": clip])["data"].text ?? ""
    do throws(Base64.Fault) { return try Base64.decode(screenshot) } catch {
      throw BrowserError("the screenshot is not base64: \(error)")
    }
  }
}
