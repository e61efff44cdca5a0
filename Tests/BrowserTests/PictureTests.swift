// Images of the README: three pages and the terminal dashboard, each small. `scripts/screenshots` has them written into
// the repository; without it only their sizes are checked.
import BranchFixture
import HeadlessBrowser
import Foundation
import Testing

extension PageTests {
  @Suite("Images of the README")
  struct PictureTests {
    /// Largest size in bytes: an image must not load longer than the text around it.
    private static let maxBytes = 60_000

    /// Directory of the written images; nil if they are not written.
    private static let place = ProcessInfo.processInfo.environment["BANK_PICTURES"]

    private func saveScreenshot(_ page: Page, _ name: String, scale: Double = 0.8) throws {
      let picture = try page.screenshot(scale: scale)
      #expect(picture.count > 2_000 && picture.count < Self.maxBytes, "\(name) has \(picture.count) bytes")
      guard let place = Self.place else { return }
      try Data(picture).write(to: URL(fileURLWithPath: "\(place)/\(name).png"))
    }

    @Test("three pages of a busy branch are drawn")
    func pages() throws {
      try withSite("--speed", "2") { site in
        let branch = site.branch
        for product in [
          "strawberry-milk", "chocolate-milk", "banana-milk", "coke", "sprite", "top", "cantata", "georgia",
          "hot6",
        ] {
          try branch.runSuccessfully("vending", "admin", "add", product, "8")
        }
        try branch.runSuccessfully("vending", "insert", "20000")
        for product in ["coke", "top", "banana-milk", "georgia", "coke", "strawberry-milk", "hot6"] {
          try branch.runSuccessfully("vending", "buy", product)
        }
        try branch.runSuccessfully("enqueue", "24", "--seed", "5")
        try branch.waitUntil("twelve customers are served") { try branch.status().queue("served") >= 12 }
        // The customers that were being served come again, slowly enough for an image.
        _ = try branch.launch(["stop", "--timeout", "0s"]).finish()
        try branch.start("--speed", "0.02")
        try site.link(["--chaos"])
        try branch.runSuccessfully("enqueue", "14", "--seed", "6")
        try branch.runSuccessfully("enqueue", "2", "--service", "loan", "--grade", "vip", "--seed", "7")
        let bank = try site.page("/", .ko)
        try bank.setViewport(width: 1_040, height: 660)
        try bank.wait(for: "document.querySelectorAll('[data-list=serving] [data-ticket]').length >= 3")
        // One teller is killed, so that the second attempt of its customer is visible.
        try branch.kill(worker: "deposit-1")
        try bank.wait(for: "document.querySelector('[data-list=serving] .again')")
        try saveScreenshot(bank, "bank")
        let vending = try site.page("/vending", beside: bank, .ko)
        try vending.setViewport(width: 960, height: 640)
        try vending.evaluate("document.querySelector('.which').scrollIntoView()")
        try saveScreenshot(vending, "vending", scale: 0.7)
        let windows = try site.page("/windows", beside: bank, .en)
        try windows.emulateMedia(dark: true)
        try windows.setViewport(width: 1_180, height: 660)
        try windows.click("[data-end=\"deposit-2\"]")
        try windows.wait(for: "document.querySelector('[data-healed]')")
        // The reply to the click covers the page for some seconds.
        try windows.evaluate("document.getElementById('toast').replaceChildren(), scrollTo(0, 0)")
        try saveScreenshot(windows, "windows", scale: 0.65)
      }
    }

    @Test("the dashboard in the terminal is drawn")
    func top() throws {
      try withScratchBank { branch in
        try branch.start("--speed", "4")
        try branch.runSuccessfully("scale", "deposit=5")
        try branch.runSuccessfully("scale", "loan=3")
        try branch.runSuccessfully("enqueue", "2000", "--seed", "5")
        let terminal = ["-L", "picture-\(branch.processes.branch.suffix(6))", "-f", "/dev/null"]
        func tmux(_ arguments: [String]) throws -> Outcome {
          try branch.launch(
            terminal + arguments, program: "/usr/bin/tmux",
            environment: ["TERM": "xterm-256color", "TMUX_TMPDIR": branch.path("io"), "LC_ALL": "C.UTF-8"]
          ).finish()
        }
        let begun = try tmux([
          "new-session", "-d", "-x", "100", "-y", "18", "\(Binaries.bankctl) top --chaos",
        ])
        try #require(begun.code == 0, begun.story)
        // One line for each window, one of them with a restarted process, and the history of a few seconds.
        try branch.kill(worker: "deposit-2")
        try branch.waitUntil("the dashboard has run for a while") {
          try branch.status().queue("served") >= 150
        }
        var screen = ""
        try branch.waitUntil("the dashboard shows the windows") {
          screen = try tmux(["capture-pane", "-p", "-e"]).out
          return screen.contains("deposit-2") && screen.contains("loan-1")
        }
        let file = try branch.write(TerminalRendering.document(of: screen), to: "top.html")
        try withBrowser { browser in
          let page = try browser.page()
          try page.go(to: "file://\(file)")
          let size = try page.evaluate(
            "(({width, height}) => [width, height])(document.querySelector('main').getBoundingClientRect())")
          try page.setViewport(
            width: Int(size[0].number?.rounded(.up) ?? 0) + 24,
            height: Int(size[1].number?.rounded(.up) ?? 0) + 24)
          try saveScreenshot(page, "top", scale: 0.75)
        }
        _ = try tmux(["kill-server"])
      }
    }
  }
}
