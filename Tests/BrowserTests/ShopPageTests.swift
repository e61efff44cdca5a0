// Pages of the juice maker and the vending machine: an order, a change, a payment, a purchase or a refill on one page
// appears at once on every open page, and matches the commands.
import BranchFixture
import HeadlessBrowser
import Testing

extension PageTests {
  @Suite("Pages of the shop")
  struct ShopPageTests {
    static let fruits = ["strawberry", "banana", "pineapple", "kiwi", "mango"]

    /// Amounts of all fruits on a page.
    private func shown(_ page: Page) throws -> [String: Int] {
      var amounts: [String: Int] = [:]
      for fruit in Self.fruits { amounts[fruit] = try page.number("[data-fruit=\"\(fruit)\"]") }
      return amounts
    }

    @Test("one juice is ordered, and a disabled one leads to the stock editor")
    func juice() throws {
      try withSite { site in
        let (one, two) = try site.pair("/juice")
        #expect(try shown(one) == Recipes.fresh)
        #expect(try one.count("[data-juice]") == 7)
        #expect(try one.count("[data-juice][aria-disabled=\"true\"]") == 1)
        #expect(try one.count("[data-juice=\"strawberry\"][aria-disabled=\"true\"]") == 1)
        try one.click("[data-juice=\"kiwi\"]")
        try one.waitWithoutReload("document.querySelector('dialog[open]')")
        let made = try one.text("document.querySelector('dialog[open]').innerText")
        #expect(made.contains("키위쥬스 나왔습니다! 맛있게 드세요!"), "\(made)")
        try one.press(.escape)
        for page in [one, two] {
          try page.waitWithoutReload(
            "document.querySelector('[data-fruit=\"kiwi\"]').textContent.trim() === '7'")
        }
        try one.click("[data-juice=\"strawberry\"]")
        try one.waitWithoutReload("document.querySelector('dialog[open]')")
        let short = try one.text("document.querySelector('dialog[open]').innerText")
        #expect(short.contains("재료가 모자라요. 재고를 수정할까요?"), "\(short)")
        #expect(short.contains("예") && short.contains("아니오"), "\(short)")
        #expect(try site.branch.stock() == Recipes.fresh.merging(["kiwi": 7]) { $1 }, "nothing was taken")
        // "No" closes the dialog, "yes" opens the editor.
        try one.press(.escape)
        try one.waitWithoutReload("!document.querySelector('dialog[open]')")
        try one.click("[data-juice=\"strawberry\"]")
        try one.waitWithoutReload("document.querySelector('dialog[open]')")
        try one.click("dialog[open] [data-answer=\"yes\"]")
        try one.wait(for: "location.pathname === '/juice/stock' && document.readyState === 'complete'")
        for page in [one, two] { try page.expectClean(except: ["status of 409"]) }
      }
    }

    @Test("the stock editor changes amounts by one, never below zero, and every open page follows")
    func editor() throws {
      try withSite { site in
        try site.branch.runSuccessfully("stock", "set", "mango", "1")
        let editor = try site.page("/juice/stock", .en)
        let menu = try site.page("/juice", beside: editor, .ko)
        for page in [editor, menu] { try page.markDocument() }
        #expect(try editor.number("[data-fruit=\"mango\"]") == 1)
        for _ in 1...6 {
          try editor.click(try editor.button(of: "/stock", ["item": "strawberry", "change": "1"]))
        }
        for page in [editor, menu] {
          try page.waitWithoutReload(
            "document.querySelector('[data-fruit=\"strawberry\"]').textContent.trim() === '16'")
        }
        try menu.waitWithoutReload(
          "document.querySelector('[data-juice=\"strawberry\"]').getAttribute('aria-disabled') === 'false'")
        try editor.click(try editor.button(of: "/stock", ["item": "mango", "change": "-1"]))
        try editor.waitWithoutReload(
          "document.querySelector('[data-fruit=\"mango\"]').textContent.trim() === '0'")
        let less = try editor.button(of: "/stock", ["item": "mango", "change": "-1"])
        try editor.waitWithoutReload("document.querySelector('\(less)').disabled")
        #expect(try site.branch.stock() == Recipes.fresh.merging(["strawberry": 16, "mango": 0]) { $1 })
        // A change by another client appears at once, and the page shows it after returning.
        try site.branch.runSuccessfully("stock", "set", "kiwi", "123")
        for page in [editor, menu] {
          try page.waitWithoutReload(
            "document.querySelector('[data-fruit=\"kiwi\"]').textContent.trim() === '123'")
        }
        try editor.click("main a[href=\"/juice\"]")
        try editor.wait(for: "location.pathname === '/juice' && document.readyState === 'complete'")
        #expect(try shown(editor) == site.branch.stock())
        for page in [editor, menu] { try page.expectClean() }
      }
    }

    @Test("without scripts a juice is ordered, and a shortage leads to the editor")
    func mute() throws {
      try withSite { site in
        let live = try site.page("/juice", .ko)
        let mute = try site.page("/juice", beside: live, .ko, scripts: false)
        try mute.click("[data-juice=\"mango-kiwi\"]")
        try mute.wait(for: "document.body.innerText.includes('나왔습니다! 맛있게 드세요!')")
        try live.wait(for: "document.querySelector('[data-fruit=\"mango\"]').textContent.trim() === '8'")
        try mute.click("[data-juice=\"strawberry\"]")
        try mute.wait(for: "document.body.innerText.includes('재료가 모자라요. 재고를 수정할까요?')")
        try mute.click("main a[href=\"/juice/stock\"]")
        try mute.wait(for: "location.pathname === '/juice/stock' && document.readyState === 'complete'")
        try mute.type("30", into: "main input[name=\"quantity\"]")
        try mute.click(try mute.button(of: "/stock", ["item": "strawberry", "quantity": "30"]))
        try mute.wait(
          for: "document.querySelector('[data-fruit=\"strawberry\"]').textContent.trim() === '30'")
        for page in [live, mute] { try page.expectClean() }
      }
    }

    @Test("money is inserted, a drink is bought, and the list of purchases grows on every open page")
    func vending() throws {
      try withSite { site in
        for product in ["coke", "top"] {
          try site.branch.runSuccessfully("vending", "admin", "add", product, "2")
        }
        let (one, two) = try site.pair("/vending")
        #expect(try one.count("[data-product]") == 10)
        #expect(try one.count("[data-product] svg") == 10, "each product has an image")
        try one.click(try one.button(of: "/vending/insert", ["amount": "5000"]))
        try one.click(try one.button(of: "/vending/insert", ["amount": "1000"]))
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelector('[data-balance=\"6000\"]')")
        }
        try one.click(try one.button(of: "/vending/buy", ["product": "coke"]))
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelector('[data-balance=\"2500\"]')")
          try page.waitWithoutReload("document.querySelectorAll('[data-purchase]').length === 1")
        }
        // The balance is too low for a second one: nothing is taken, and the page reports the reason.
        try one.click(try one.button(of: "/vending/buy", ["product": "coke"]))
        try one.waitWithoutReload("document.body.innerText.includes('잔액이 부족합니다.')")
        try one.press(.escape)
        try one.click(try one.button(of: "/vending/buy", ["product": "top"]))
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelectorAll('[data-purchase]').length === 2")
        }
        try two.click("[data-action=\"return\"]")
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelector('[data-balance=\"0\"]')")
        }
        let told = try site.branch.json("vending")
        #expect(told["balance"].integer == 0)
        #expect(told["products"].item(where: "product", is: "coke")["stock"].integer == 1)
        #expect(try site.branch.lines("vending", "history").map { $0["product"].text } == ["coke", "top"])
        for page in [one, two] { try page.expectClean(except: ["status of 409"]) }
      }
    }

    @Test("the list of purchases can be paged back to the first one")
    func strip() throws {
      try withSite { site in
        try site.branch.runSuccessfully("vending", "admin", "add", "hot6", "260")
        try site.branch.runSuccessfully("vending", "insert", "1000000")
        let page = try site.page("/vending")
        let key = "for (let place = 0; place < 260; place += 1) await fetch('/vending/buy', "
        try page.evaluate(
          "(async () => { \(key){method: 'POST', headers: {Accept: 'application/json'},"
            + " body: new URLSearchParams({product: 'hot6', key: 'strip' + place})}) })()")
        #expect(try site.branch.lines("vending", "history").count == 260)
        try page.go(to: site.origin + "/vending")
        var seen: Set<String> = []
        for _ in 1...10 {
          let shown = try page.evaluate(
            "[...document.querySelectorAll('[data-purchase]')].map(each => each.dataset.purchase)")
          seen.formUnion(shown.items.compactMap(\.text))
          guard try page.count("main a[href*=\"before=\"]") > 0, seen.count < 260 else { break }
          let older = try page.text("document.querySelector('main a[href*=\"before=\"]').href")
          try page.go(to: older)
        }
        #expect(seen.count == 260)
        try page.expectClean()
      }
    }

    @Test("only the manager refills the machine, and refilled drinks are for sale at once")
    func manager() throws {
      try withSite { site in
        let customer = try site.page("/vending", .en)
        let manager = try site.page("/vending/admin", beside: customer, .ko)
        try customer.markDocument()
        #expect(
          try manager.count("form[action=\"/vending/admin/add\"]") == 0,
          "a page without the manager's cookie shows no till")
        // A POST without the manager's cookie is refused.
        try customer.evaluate(
          "fetch('/vending/admin/add', {method: 'POST', headers: {Accept: 'application/json'}, body: new URLSearchParams({product: 'top', count: 5, key: 'a'})})"
        )
        let refused = customer.log.requests.last { $0.method == "POST" }?.status ?? 0
        #expect((400...499).contains(refused), "\(refused)")
        #expect(
          try site.branch.json("vending")["products"].item(where: "product", is: "top")["stock"].integer == 0)
        customer.forget()
        // A wrong code is refused; the right one makes only this browser the manager.
        try manager.type("wrong", into: "input[name=\"code\"]")
        try manager.click(try manager.button(of: "/vending/admin/login"))
        try manager.wait(for: "document.querySelector('main .alarm') && document.readyState === 'complete'")
        manager.forget()
        try manager.type(site.managerCode, into: "input[name=\"code\"]")
        try manager.click(try manager.button(of: "/vending/admin/login"))
        try manager.wait(for: "document.querySelector('form[action=\"/vending/admin/add\"]')")
        try manager.markDocument()
        try manager.evaluate("document.querySelector('select[name=product]').value = 'top'")
        try manager.type("5", into: "form[action=\"/vending/admin/add\"] input[name=\"count\"]")
        try manager.click(try manager.button(of: "/vending/admin/add", ["product": "top", "count": "5"]))
        try customer.waitWithoutReload(
          "document.querySelector('[data-product=top] .stock').textContent.includes('5')")
        try manager.waitWithoutReload("document.querySelectorAll('[data-product=top] .lots li').length === 1")
        // A purchase has a share of the pie chart.
        try site.branch.runSuccessfully("vending", "insert", "5000")
        try site.branch.runSuccessfully("vending", "buy", "top")
        try manager.waitWithoutReload("document.querySelector('svg.pie circle')")
        try manager.waitWithoutReload(
          "document.querySelector('[data-region=shares] [data-key=top]').textContent.includes('100.0%')")
        for page in [customer, manager] { try page.expectClean() }
      }
    }
  }
}
