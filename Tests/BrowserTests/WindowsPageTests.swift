// Tickets, windows and services in a browser: history of a ticket, lobby display, steering, killed teller.
import BranchFixture
import HeadlessBrowser
import Testing

extension PageTests {
  @Suite("Pages of tickets and windows")
  struct WindowsPageTests {
    @Test("a ticket is taken at the kiosk, and its page shows its history up to the receipt")
    func kiosk() throws {
      try withSite(
        configuration: {
          try $0.configuration(more: #", "services": {"hold": {"run": ["sleep", "60"], "windows": 1}}"#)
        }
      ) { site in
        let kiosk = try site.page("/kiosk", .ko)
        try kiosk.evaluate("document.querySelector('select[name=service]').value = 'hold'")
        try kiosk.evaluate("document.querySelector('select[name=grade]').value = 'vip'")
        try kiosk.type("{\"note\": \"안녕\"}", into: "textarea[name=payload]")
        try kiosk.click("[data-action=\"take\"]")
        try kiosk.wait(for: "location.pathname === '/ticket/1' && document.readyState === 'complete'")
        let ticket = try site.page("/ticket/1", beside: kiosk, .en)
        try ticket.markDocument()
        try site.branch.waitUntil("the customer is served") { try site.branch.status().queue("serving") == 1 }
        let first = try #require(try site.branch.status().workers.first { $0.ticket == 1 })
        try ticket.waitWithoutReload("document.body.textContent.includes('\(first.name)')")
        try ticket.waitWithoutReload("document.body.textContent.includes('pid \(first.pid)')")
        try site.branch.kill(worker: first.name)
        try ticket.waitWithoutReload("document.body.textContent.includes('SIGKILL')")
        try site.branch.waitUntil("the customer is served again") {
          try site.branch.status().workers.contains { $0.ticket == 1 && $0.pid != first.pid }
        }
        let second = try #require(try site.branch.status().workers.first { $0.ticket == 1 })
        try ticket.waitWithoutReload("document.body.textContent.includes('pid \(second.pid)')")
        try site.branch.runSuccessfully("cancel", "1")
        try ticket.waitWithoutReload("document.querySelector('.receipt')")
        for page in [kiosk, ticket] { try page.expectClean() }
      }
    }

    @Test("the output of a command grows on the page of its ticket")
    func output() throws {
      try withSite(
        configuration: {
          try $0.configuration(
            more:
              #", "services": {"talk": {"run": ["/bin/sh", "-c", "echo begun; cat; echo '<b>ended</b>'; exec cat '\#($0.path("gate"))'"], "windows": 1}}"#
          )
        }
      ) { site in
        let gate = try site.branch.launch([site.branch.path("gate")], program: "/usr/bin/mkfifo").finish()
        try #require(gate.code == 0, gate.story)
        try site.branch.runSuccessfully("enqueue", "--service", "talk", "--payload", "안녕")
        let page = try site.page("/ticket/1")
        try page.markDocument()
        try page.waitWithoutReload("document.querySelector('.output').textContent.includes('<b>ended</b>')")
        #expect(try page.text("document.querySelector('.output').textContent").contains("begun"))
        // Opening the other end of the pipe lets the command finish.
        let opened = try site.branch.launch(
          ["-c", "printf last >'\(site.branch.path("gate"))'"], program: "/bin/sh"
        ).finish()
        try #require(opened.code == 0, opened.story)
        // After that the output is the result on the receipt.
        try page.waitWithoutReload("document.querySelector('.receipt')?.textContent.includes('last')")
        try page.expectClean()
      }
    }

    @Test("the lobby display calls the next customer, and has no controls")
    func lobby() throws {
      try withSite("--speed", "10") { site in
        let (one, two) = try site.pair("/lobby")
        #expect(try one.count("main form") == 0)
        try site.branch.runSuccessfully("enqueue", "6", "--service", "loan", "--wait")
        for page in [one, two] {
          // Customers came in order to one window: the last one is the newest, and four others are listed below it.
          try page.waitWithoutReload(
            "document.querySelector('[data-region=newest] li .number')?.textContent === '6'")
          #expect(
            try page.evaluate(
              "[...document.querySelectorAll('[data-region=calls] li .number')].map(each => each.textContent)"
            )
              == ["5", "4", "3", "2"])
          try page.expectClean()
        }
      }
    }

    @Test("windows are paused, opened and closed, and every open page shows it")
    func steering() throws {
      try withSite("--speed", "0.01") { site in
        let (one, two) = try site.pair("/windows")
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelector('[data-region=windows] [data-key=deposit-2]')")
        }
        try one.click(try one.button(of: "/windows/scale", ["service": "deposit", "windows": "3"]))
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelector('[data-region=windows] [data-key=deposit-3]')")
        }
        try one.click(try one.button(of: "/windows/pause", ["service": "loan"]))
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelector('form[action=\"/windows/resume\"]')")
        }
        #expect(try site.branch.status().service("loan")["paused"].flag == true)
        try two.click(try two.button(of: "/windows/resume", ["service": "loan"]))
        for page in [one, two] {
          try page.waitWithoutReload("!document.querySelector('form[action=\"/windows/resume\"]')")
        }
        #expect(try site.branch.status().service("loan")["paused"].flag == false)
        #expect(
          try one.count("form[action=\"/windows/end\"]") == 0,
          "without `--chaos` there is no button that kills a worker")
        for page in [one, two] { try page.expectClean() }
      }
    }

    @Test("a teller is killed on the page, and every open page shows how soon its customer is served again")
    func chaos() throws {
      try withSite("--speed", "0.01", web: ["--chaos"]) { site in
        try site.branch.runSuccessfully("enqueue", "1", "--service", "loan")
        let (one, two) = try site.pair("/windows")
        try site.branch.waitUntilServed(by: "loan-1", ticket: 1)
        let before = try #require(try site.branch.status().worker("loan-1"))
        let row = "document.querySelector('[data-region=windows] [data-key=loan-1]').textContent"
        for page in [one, two] { try page.waitWithoutReload("\(row).includes('\(before.pid)')") }
        try one.click("[data-end=\"loan-1\"]")
        let wanted = [
          (one, "1번 고객의 업무가 loan-1에서"), (two, "Customer 1 was being served again at loan-1"),
        ]
        for (page, arguments) in wanted {
          try page.waitWithoutReload("document.querySelector('[data-healed]')")
          #expect(Int(try page.text("document.querySelector('[data-healed]').dataset.healed")) != nil)
          let told = try page.text("document.querySelector('[data-region=death]').textContent")
          #expect(
            told.contains("pid \(before.pid)") && told.contains(arguments) && !told.contains("≤"), "\(told)")
        }
        let after = try #require(try site.branch.status().worker("loan-1"))
        #expect(after.generation == before.generation + 1 && after.pid != before.pid && after.ticket == 1)
        for page in [one, two] { try page.waitWithoutReload("\(row).includes('\(after.pid)')") }
        // A form that is sent again later, or with another pid, kills no process and appears on no page.
        for pid in [before.pid, before.pid + 1] {
          try two.evaluate(
            """
            fetch('/windows/end', {method: 'POST', headers: {'Content-Type': 'application/x-www-form-urlencoded'},
              body: 'window=loan-1&generation=1&pid=\(pid)&key=again-\(pid)'}).then(() => { window.isSent = \(pid) })
            """)
          try two.waitWithoutReload("window.isSent === \(pid)")
        }
        let late = try site.page("/windows", beside: one, .en)
        for page in [two, late] {
          let told = try page.text("document.querySelector('[data-region=death]').textContent")
          #expect(told.contains("pid \(before.pid)") && told.contains("ms"), "\(told)")
        }
        #expect(try site.branch.status().worker("loan-1")?.pid == after.pid)
        // The log grows on its page.
        try one.go(to: site.origin + "/windows/loan-1/log")
        try one.wait(for: "document.querySelector('.log').textContent.includes('pid=\(after.pid)')")
        for page in [one, two] { try page.expectClean() }
      }
    }

    @Test(
      "a pressed button and a ticked box survive a change of their row but not another order, on both pages"
    )
    func presses() throws {
      try withSite("--speed", "10", web: ["--chaos"]) { site in
        let windows = try site.pair("/windows")
        let both = [(windows.ko, served: "완료", generation: "세대"), (windows.en, "Served", "Generation")]
        func cell(_ name: String) -> String {
          "document.querySelector('[data-key=loan-1] [data-name=\"\(name)\"]').textContent"
        }
        for (page, _, _) in both {
          try page.evaluate("window.held = document.querySelector('[data-end=loan-1]')")
        }
        try site.branch.runSuccessfully("enqueue", "3", "--service", "loan", "--wait")
        for (page, served, _) in both {
          try page.waitWithoutReload("\(cell(served)) === '3'")
          #expect(
            try page.evaluate("held.isConnected") == true, "a button that is held down keeps its effect")
        }
        for (presser, next) in [(windows.ko, 2), (windows.en, 3)] {
          try presser.click("[data-end=loan-1]")
          for (page, _, generation) in both {
            try page.waitWithoutReload("\(cell(generation)) === '\(next)'")
            #expect(
              try page.evaluate("held.isConnected") == false, "the button would now kill another process")
            // The window was idle, so the test waits for its new process.
            try page.waitWithoutReload(
              "document.querySelector('[data-region=death] .good')?.textContent.match(/generation \(next)|\(next)세대/)"
            )
          }
        }
        try site.branch.runSuccessfully("pause")
        try site.branch.runSuccessfully("enqueue", "2", "--service", "deposit")
        let tickets = try site.pair("/tickets?state=waiting")
        try tickets.ko.click("main input[name=ticket][value=\"5\"]")
        try tickets.en.click("main input[name=ticket][value=\"4\"]")
        for (presser, left) in [(tickets.en, 1), (tickets.ko, 0)] {
          try presser.click(try presser.button(of: "/tickets/cancel"))
          try presser.confirm()
          for page in [tickets.ko, tickets.en] {
            try page.waitWithoutReload("document.querySelectorAll('main [data-ticket]').length === \(left)")
          }
          guard left > 0 else { continue }
          #expect(
            try tickets.ko.evaluate("document.querySelector('input[name=ticket][value=\"5\"]').checked")
              == true)
        }
        #expect(try site.branch.status().queue("cancelled") == 2)
        for page in [windows.ko, windows.en, tickets.ko, tickets.en] { try page.expectClean() }
      }
    }

    @Test("services show waiting customers by grade")
    func services() throws {
      try withSite("--speed", "0.01") { site in
        try site.branch.runSuccessfully("pause", "deposit")
        let page = try site.page("/services", .ko)
        try page.markDocument()
        try site.branch.runSuccessfully("enqueue", "1234", "--service", "deposit", "--grade", "vvip")
        let row = "document.querySelector('[data-region=services] [data-key=deposit]').textContent"
        try page.waitWithoutReload("\(row).includes('1,234')")
        #expect(
          try page.count("[data-region=services] [data-key=deposit] svg") >= 1,
          "the last ten minutes are plotted")
        try page.expectClean()
      }
    }
  }
}
