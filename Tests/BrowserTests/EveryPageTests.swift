// Rules for every page: it fits into a narrow window, its buttons suit fingers, every control has a name, no error is
// logged, no other machine is contacted, and its content is the same without scripts.
import BranchFixture
import HeadlessBrowser
import Testing

extension PageTests {
  @Suite("Every page")
  struct EveryPageTests {
    static let paths = [
      "/", "/kiosk", "/ticket/1", "/ticket/12", "/lobby", "/juice", "/juice/stock", "/vending",
      "/vending/admin",
      "/windows", "/windows/deposit-1/log", "/services", "/dead", "/tickets", "/tickets?state=waiting",
      "/receipts",
      "/audit", "/ledger", "/reset",
    ]

    /// Configuration of a branch with data for every page.
    static func populated(_ branch: ScratchBank) throws -> String {
      try branch.configuration(
        speed: "100",
        more: #", "services": {"broken": {"run": ["/bin/sh", "-c", "exit 65"], "windows": 1}}"#)
    }

    static func populate(_ site: TestSite) throws {
      let branch = site.branch
      try branch.runSuccessfully("enqueue", "10", "--seed", "7", "--wait")
      try branch.runSuccessfully("enqueue", "--service", "broken", "--payload", "x")
      try branch.waitUntil("there is a dead letter") { try branch.status().queue("dead") == 1 }
      try branch.runSuccessfully("juice", "order", "kiwi")
      try branch.runSuccessfully("vending", "admin", "add", "coke", "3")
      try branch.runSuccessfully("vending", "insert", "5000")
      try branch.runSuccessfully("vending", "buy", "coke")
      try branch.runSuccessfully("pause", "loan")
      try branch.runSuccessfully("enqueue", "12", "--service", "loan", "--grade", "vip")
    }

    @Test(
      "every page fits, names its controls, logs no error, loads nothing foreign, and works without scripts")
    func walk() throws {
      try withSite(configuration: Self.populated) { site in
        try Self.populate(site)
        let korean = try site.page("/", .ko)
        for outputLanguage in OutputLanguage.allCases {
          let page = try site.page("/", beside: korean, outputLanguage)
          let mute = try site.page("/", beside: korean, outputLanguage, scripts: false)
          var titles: Set<String> = []
          for path in Self.paths {
            let answer = try page.go(to: site.origin + path)
            #expect(answer?.status == 200, "\(path)")
            #expect(try page.text("document.documentElement.lang") == outputLanguage.rawValue, "\(path)")
            titles.insert(try page.text("document.title"))
            #expect(try page.count("h1") == 1, "\(path)")
            try fits(page, path)
            try mute.go(to: site.origin + path)
            // Process data and times may differ between two requests; the lists and the forms may not.
            for question in Self.questions {
              #expect(try page.evaluate(question) == mute.evaluate(question), "\(path)")
            }
          }
          #expect(titles.count >= Self.paths.count - 3, "titles tell pages apart: \(titles)")
          for page in [page, mute] { try page.expectClean() }
        }
      }
    }

    @Test("long words, bidirectional marks and a doubled font size push nothing out of a page")
    func longTexts() throws {
      let name = "averyveryveryverylongservicename_for_layout.tests-of-the-pages"
      let reason = "printf '%s' \(String(repeating: "x", count: 160)) >&2; exit 65"
      let turned = "printf 'a\u{202E}b\u{2066}c' >&2; exit 65"
      try withSite(configuration: { branch in
        let services = [(name, "exit 0"), ("long", reason), ("turned", turned)].map { name, script in
          "\"\(name)\": {\"run\": [\"/bin/sh\", \"-c\", \"\(script)\"], \"windows\": 1}"
        }
        return try branch.configuration(
          speed: "100", more: ", \"services\": {\(services.joined(separator: ", "))}")
      }) { site in
        for service in ["long", "turned", name] {
          try site.branch.runSuccessfully("enqueue", "--service", service, "--payload", "x")
        }
        try site.branch.waitUntil("there are two dead letters") {
          try site.branch.status().queue("dead") == 2
        }
        try site.branch.runSuccessfully("pause", name)
        try site.branch.runSuccessfully("enqueue", "3", "--service", name, "--payload", "x")
        let page = try site.page()
        for path in [
          "/", "/dead", "/windows", "/services", "/tickets", "/receipts", "/audit", "/windows/\(name)-1/log",
        ] {
          try page.go(to: site.origin + path)
          // 640 pixels are a desktop at 200 %, 195 a telephone at 200 %.
          for (width, isDouble) in [
            (1280, false), (1280, true), (640, false), (640, true), (320, false), (195, false),
          ] {
            try page.setViewport(width: width, height: 800)
            try page.evaluate("document.documentElement.style.fontSize = \(isDouble ? "'32px'" : "''")")
            let beyond = try page.overflowingElements()
            #expect(beyond == [], "\(path), \(width) pixels, doubled: \(isDouble)")
            // A table may scroll on its own, but does not: all of its columns are visible.
            let hidden = try page.evaluate(
              "[...document.querySelectorAll('.scroll-x')].filter(box => box.scrollWidth > box.clientWidth + 1).length"
            )
            #expect(hidden.integer == 0 || isDouble, "\(path), \(width) pixels: a column is not visible")
          }
          try page.evaluate("document.documentElement.style.fontSize = ''")
          #expect(try !page.text("document.body.textContent").contains("\u{202E}"), "\(path)")
        }
        try page.go(to: site.origin + "/")
        let low = try page.evaluate(
          "[...document.querySelectorAll('.events a')].filter(a => a.getBoundingClientRect().height < 24).length"
        )
        #expect(
          try page.count(".events a") > 0 && low.integer == 0, "links of events are high enough for a finger")
        try page.expectClean()
      }
    }

    private static let questions = [
      "[...document.querySelectorAll('[data-ticket], [data-fruit], [data-product], [data-purchase]')]"
        + ".map(row => row.textContent.replace(/\\s+/g, ' '))",
      "[...document.querySelectorAll('main form[method=post]')].map(form => form.getAttribute('action'))",
      "document.querySelector('h1').textContent",
    ]

    /// Expects that a page fits a telephone and a desktop, dark and light, and that every control has a name.
    private func fits(_ page: Page, _ path: String) throws {
      for (width, dark) in [(320, false), (390, true), (1280, false)] {
        try page.setViewport(width: width, height: 800)
        try page.emulateMedia(dark: dark)
        let beyond = try page.overflowingElements()
        #expect(beyond == [], "\(path), \(width) pixels")
        let small = try page.smallTargets()
        #expect(small == [], "\(path), \(width) pixels")
      }
      let nameless = try page.unlabelledControls()
      #expect(nameless == [], "\(path)")
    }

    @Test("a language and a theme are chosen on the page and are remembered")
    func choices() throws {
      try withSite { site in
        let page = try site.page("/juice", .en)
        try page.setViewport(width: 1280, height: 900)
        try page.click(try page.button(of: "/language", ["lang": "ko"]))
        try page.wait(for: "document.documentElement.lang === 'ko' && document.readyState === 'complete'")
        #expect(try page.text("location.pathname") == "/juice")
        let before = try page.text("getComputedStyle(document.body).backgroundColor")
        try page.click(try page.button(of: "/theme", ["theme": "dark"]))
        try page.wait(
          for: "document.documentElement.dataset.theme === 'dark' && document.readyState === 'complete'")
        try page.wait(for: "getComputedStyle(document.body).backgroundColor !== \(JSONValue.text(before))")
        try page.go(to: site.origin + "/windows")
        #expect(
          try page.text("document.documentElement.lang + document.documentElement.dataset.theme") == "kodark")
        try page.expectClean()
      }
    }

    @Test("every control is reached with the keyboard alone, and the focused one is visible")
    func keyboard() throws {
      try withSite("--speed", "0.01") { site in
        let page = try site.page()
        let wanted = try page.count("main button:not([disabled]), main a[href]")
        var reached: Set<String> = []
        for _ in 0..<80 {
          try page.press(.tab)
          let focused = try page.evaluate(
            """
            (() => {
              const element = document.activeElement, style = getComputedStyle(element);
              const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none";
              return [element.outerHTML.slice(0, 160), element.matches("main button, main a[href]"), seen || element === document.body];
            })()
            """)
          #expect(focused[2] == true, "the focus is not visible on \(focused[0])")
          if focused[1] == true { reached.insert(focused[0].text ?? "") }
        }
        #expect(reached.count >= wanted, "\(reached)")
        try page.evaluate("document.querySelector('[data-action=\"add\"]').focus()")
        try page.press(.enter)
        try page.wait(for: "document.querySelectorAll('[data-list] [data-ticket]').length === 10")
      }
    }
  }
}
