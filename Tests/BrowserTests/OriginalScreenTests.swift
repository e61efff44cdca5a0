// Features of the three original apps, item by item, unless another test of the pages covers them: texts and colours, a
// timer that continues, the missing fruit, any amount of money, what it buys, hot drinks, expired drinks. Each feature
// in both languages, on two pages that are open at once.
import BranchFixture
import HeadlessBrowser
import Testing

extension PageTests {
  @Suite("Features of the original apps")
  struct OriginalScreenTests {
    /// Name of the colour of an element: red, green, blue, indigo, purple.
    private static func colour(_ selector: String, of property: String) -> String {
      """
      (() => {
        const paint = document.createElement("canvas").getContext("2d");
        paint.fillStyle = getComputedStyle(document.querySelector(\(JSONValue.text(selector)))).\(property);
        paint.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map(each => each / 255);
        const top = Math.max(r, g, b), low = Math.min(r, g, b), span = top - low || 1;
        const turn = top === r ? (g - b) / span : top === g ? 2 + (b - r) / span : 4 + (r - g) / span;
        const hue = (turn * 60 + 360) % 360;
        return hue < 20 || hue > 340 ? "red" : hue < 170 ? "green" : hue < 225 ? "blue" : hue < 260 ? "indigo" : "purple";
      })()
      """
    }

    @Test("bank: the two headers, the two buttons and a loan have their colours, dark and light")
    func colours() throws {
      try withSite("--speed", "0.01") { site in
        try site.branch.runSuccessfully("enqueue", "4", "--service", "loan")
        let (korean, english) = try site.pair()
        for page in [korean, english] {
          for dark in [false, true] {
            try page.emulateMedia(dark: dark)
            try page.waitWithoutReload(
              "document.querySelectorAll('[data-list=waiting] [data-ticket]').length === 3")
            let painted = [
              ("#waiting-heading", "backgroundColor", "green"),
              ("#serving-heading", "backgroundColor", "indigo"),
              ("[data-action=add]", "backgroundColor", "blue"),
              ("[data-action=reset]", "backgroundColor", "red"),
              ("[data-list=waiting] a", "color", "purple"),
            ]
            for (selector, property, name) in painted {
              #expect(
                try page.text(Self.colour(selector, of: property)) == name, "\(selector), dark: \(dark)")
            }
          }
        }
        #expect(try korean.text(of: "[data-list=waiting] [data-ticket='2']")?.contains("2 - 대출") == true)
        #expect(try english.text(of: "[data-list=waiting] [data-ticket='2']")?.contains("2 - loan") == true)
        for page in [korean, english] { try page.expectClean() }
      }
    }

    @Test("bank: the timer stops without customers, and continues from there with the next ones")
    func timer() throws {
      try withSite("--speed", "20") { site in
        let (korean, english) = try site.pair()
        try korean.click("[data-action=add]")
        try site.branch.waitUntil("ten customers are served") {
          try site.branch.status().queue("served") == 10
        }
        let first = try site.branch.status().businessMilliseconds
        let stands = "document.querySelector('[data-timer]').dataset"
        for page in [korean, english] {
          try page.waitWithoutReload("\(stands).runs === 'false' && Number(\(stands).ms) === \(first)")
        }
        try english.click("[data-action=add]")
        try site.branch.waitUntil("twenty customers are served") {
          try site.branch.status().queue("served") == 20
        }
        let second = try site.branch.status().businessMilliseconds
        #expect(second > first, "the timer continues and does not start at zero")
        for page in [korean, english] {
          try page.waitWithoutReload("\(stands).runs === 'false' && Number(\(stands).ms) === \(second)")
          try page.expectClean()
        }
      }
    }

    @Test("juice maker: seven buttons in the order of the original, and a shortage names its fruit")
    func juice() throws {
      try withSite { site in
        let (korean, english) = try site.pair("/juice")
        let buttons = "[...document.querySelectorAll('[data-juice] b')].map(each => each.textContent)"
        #expect(
          try korean.evaluate(buttons)
            == [
              "딸바쥬스 주문", "망키쥬스 주문", "딸기쥬스 주문", "바나나쥬스 주문", "파인애플쥬스 주문", "키위쥬스 주문", "망고쥬스 주문",
            ])
        #expect(try english.evaluate(buttons).items.first == "Order strawberry-banana juice")
        for (page, sentence, no) in [
          (korean, "딸기의 재고가 부족합니다.", "아니오"), (english, "There is not enough strawberry in stock.", "No"),
        ] {
          try page.click("[data-juice=strawberry]")
          try page.waitWithoutReload("document.querySelector('dialog[open]')")
          let said = try page.text("document.querySelector('dialog[open]').innerText")
          #expect(said.contains(sentence) && said.contains(no), "\(said)")
          try page.click("dialog[open] [data-answer=no]")
          try page.waitWithoutReload(
            "!document.querySelector('dialog[open]') && location.pathname === '/juice'")
        }
        #expect(try site.branch.stock() == Recipes.fresh, "nothing was taken")
        for page in [korean, english] { try page.expectClean(except: ["status of 409"]) }
      }
    }

    private static let shown =
      "[...document.querySelectorAll('[data-product]')].filter(each => each.checkVisibility()).map(each => each.dataset.product)"

    @Test("vending machine: it takes any amount, marks affordable and hot drinks, and can show only those")
    func drinks() throws {
      try withSite { site in
        for product in ["coke", "top", "georgia"] {
          try site.branch.runSuccessfully("vending", "admin", "add", product, "1")
        }
        let (korean, english) = try site.pair("/vending")
        let buyable =
          "[...document.querySelectorAll('[data-product] button[aria-disabled=false]')].map(each => each.closest('li').dataset.product)"
        #expect(try korean.evaluate(buyable) == [])
        try korean.type("1700", into: "form[action='/vending/insert'] input[name=amount]:not([type=hidden])")
        try korean.press(.enter)
        for page in [korean, english] {
          try page.waitWithoutReload("document.querySelector('[data-balance=\"1700\"]')")
          // A coke costs more than the balance.
          try page.waitWithoutReload("JSON.stringify(\(buyable)) === '[\"top\",\"georgia\"]'")
          try page.click("label:has(#which-buyable)")
          #expect(try page.evaluate(Self.shown) == ["top", "georgia"])
          try page.click("label:has(#which-hot)")
          #expect(try page.evaluate(Self.shown) == ["top", "cantata", "georgia"])
        }
        // The filter is kept while the list changes.
        try korean.click(try korean.button(of: "/vending/buy", ["product": "top"]))
        for page in [korean, english] {
          try page.waitWithoutReload("document.querySelectorAll('[data-purchase]').length === 1")
          #expect(try page.evaluate(Self.shown) == ["top", "cantata", "georgia"])
        }
        try site.branch.runSuccessfully("vending", "insert", "5000")
        for (page, sentence) in [(korean, "재고가 부족합니다."), (english, "It is sold out.")] {
          try page.click(try page.button(of: "/vending/buy", ["product": "top"]))
          try page.waitWithoutReload(
            "document.querySelector('#toast')?.textContent.includes(\(JSONValue.text(sentence)))")
          try page.expectClean(except: ["status of 409"])
        }
        #expect(try site.branch.json("vending")["balance"].integer == 5000, "nothing was taken")
      }
    }

    @Test(
      "vending machine: the manager sees each lot, can list expired ones only, and no customer can buy them")
    func expired() throws {
      try withSite { site in
        try site.branch.runSuccessfully(
          "vending", "admin", "add", "banana-milk", "3", "--made", "2020-01-01", "--expires", "2020-01-08")
        try site.branch.runSuccessfully("vending", "admin", "add", "coke", "2")
        let korean = try site.page("/vending/admin", .ko)
        try korean.type(site.managerCode, into: "input[name=code]")
        try korean.click(try korean.button(of: "/vending/admin/login"))
        try korean.wait(for: "document.querySelector('form[action=\"/vending/admin/add\"]')")
        let english = try site.page("/vending/admin", beside: korean, .en)
        let customer = try site.page("/vending", beside: korean, .ko)
        for page in [korean, english, customer] { try page.markDocument() }
        let lot = "[data-product=banana-milk] .lots li"
        #expect(
          try korean.text(of: lot)?.contains("서울우유, 200ml, 900원, 바나나맛 우유, 20200101, 20200108") == true)
        #expect(
          try english.text(of: lot)?.contains("Seoul Milk, 200ml, 900 won, banana milk, made 2020-01-01")
            == true)
        for page in [korean, english] {
          try page.click("label:has(#which-expired)")
          #expect(try page.evaluate(Self.shown) == ["banana-milk"])
        }
        #expect(try customer.text(of: "[data-product=banana-milk] .stock")?.contains("유통기한 만료") == true)
        #expect(try customer.count("[data-product=banana-milk] button[aria-disabled=true]") == 1)
        try english.click(try english.button(of: "/vending/admin/discard"))
        for page in [korean, english] { try page.waitWithoutReload("!document.querySelector('.is-expired')") }
        try customer.waitWithoutReload(
          "document.querySelector('[data-product=banana-milk] .stock').textContent.includes('품절')")
        for page in [korean, english, customer] { try page.expectClean() }
      }
    }
  }
}
