// Requests of scripts and forms to a real bank: an unknown or invalid field is refused by name, without any effect.
import Foundation
import Testing

@Suite("Fields of requests", .serialized)
struct WebFieldsTests {
  @Test("an unknown field in a body, a query or a form is refused by name, and the request has no effect")
  func refusals() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.001")
      let web = try branch.web()
      let orders = [
        (#"{"service":"deposit","payload":{"url":"x"}}"#, "payload"), (#"{"payload":["a"]}"#, "payload"),
        (#"{"payload":42}"#, "payload"), (#"{"grade":5}"#, "grade"), (#"{"grade":"gold"}"#, "grade"),
        (#"{"priority":"1"}"#, "priority"), (#"{"priority":1.5}"#, "priority"),
        (#"{"priority":1,"grade":"vip"}"#, "priority"), (#"{"count":"1"}"#, "count"),
        (#"{"counts":1}"#, "counts"),
        (#"{"service":7}"#, "service"), (#"{"amount":"1"}"#, "amount"), (#"{"count":1,"count":1}"#, "count"),
      ]
      for (body, field) in orders {
        let answer = try web.local("/api/v1/customers", "-d", body)
        #expect(answer.status == 400 && answer.json["error"]["code"].text == "bad_request", "\(body)")
        #expect(
          answer.json["error"]["message"].text?.hasPrefix(field + ":") == true, "\(body): \(answer.body)")
      }
      for (path, body, field) in [
        ("cancel", #"{"tickets":"1"}"#, "tickets"), ("cancel", #"{"tickets":[1],"day":"x"}"#, "day"),
        ("reset", #"{"day":"1"}"#, "day"), ("scale", #"{"service":"loan","windows":"2"}"#, "windows"),
        ("stock", #"{"item":"kiwi","quantity":"1"}"#, "quantity"), ("pause", #"{"service":1}"#, "service"),
        ("vending/insert", #"{"amount":"1000"}"#, "amount"), ("juice", #"{"juice":1}"#, "juice"),
      ] {
        let answer = try web.local("/api/v1/" + path, "-d", body)
        #expect(answer.status == 400, "\(path) \(body)")
        #expect(answer.json["error"]["message"].text?.hasPrefix(field + ":") == true, "\(answer.body)")
      }
      for (path, field) in [
        ("tickets/1?day=x", "day"), ("tickets?state=bogus", "state"), ("tickets?sate=dead", "sate"),
        ("receipts?day=x", "day"), ("receipts?after=x", "after"), ("status?x=1", "x"),
        ("vending/history?limit=0", "limit"),
      ] {
        let answer = try web.local("/api/v1/" + path)
        #expect(answer.status == 400, "\(path)")
        #expect(answer.json["error"]["message"].text?.hasPrefix(field + ":") == true, "\(answer.body)")
      }
      for (path, field) in [
        ("/tickets?state=bogus", "state"), ("/ticket/1?day=x", "day"), ("/receipts?outcome=x", "outcome"),
        ("/?x=1", "x"),
      ] {
        let page = try web.local(path, "-H", "Accept-Language: ko")
        #expect(
          page.status == 400 && page.body.contains("&#39;\(field)&#39;") && page.body.contains("항목"),
          "\(path)")
        #expect(!page.body.contains("/tickets/cancel"), "an invalid filter never means all")
      }
      for (form, body, field) in [
        ("/customers", "count=x&key=a", "count"), ("/customers", "count=1&key=a&grade=gold", "grade"),
        ("/customers", "count=1&key=a&sevice=loan", "sevice"),
        ("/tickets/cancel", "all=1&state=bogus", "state"),
        ("/tickets/cancel", "ticket=1&ticket=x", "ticket"),
        ("/tickets/cancel", "ticket=1&confirmed=1", "day"),
        ("/windows/scale", "service=loan&windows=x", "windows"), ("/reset", "day=x&confirmed=1", "day"),
        ("/stock", "item=kiwi&quantity=x&key=a", "quantity"),
      ] {
        let answer = try web.local(form, "-d", body, "-H", "Accept: application/json")
        #expect(answer.status == 400 && answer.json["tone"].text == "refused", "\(form) \(body)")
        #expect(answer.json["text"].text?.contains("'\(field)'") == true, "\(answer.body)")
        #expect(
          try web.local(form, "-d", body).status == 400, "a browser without scripts gets the reason as well")
      }
      let status = try branch.status()
      #expect(status.queue("issued") == 0 && status.document["bank"]["day"].integer == 1)
    }
  }

  @Test("an order of juice without a name is refused on every path, and issues no ticket")
  func unnamedJuice() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let kiosk = "count=1&from=kiosk&service=juice&key=k"
      let form = try web.local(
        "/customers", "-d", kiosk, "-H", "Accept: application/json", "-H", "Accept-Language: ko")
      #expect(form.status == 400 && form.json["text"].text?.contains("쥬스는 쥬스 화면에서") == true, "\(form.body)")
      let script = try web.local("/api/v1/customers", "-d", #"{"service":"juice"}"#)
      #expect(script.status == 400 && script.json["error"]["code"].text == "bad_request", "\(script.body)")
      #expect(script.json["error"]["message"].text?.contains("by name") == true, "\(script.body)")
      #expect(try branch.status().queue("issued") == 0)
      #expect(try web.local("/api/v1/juice", "-d", #"{"juice":"kiwi"}"#).status == 200)
    }
  }

  @Test("a key of sixty characters is valid for everything that takes a key")
  func longKeys() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let key = "Idempotency-Key: " + String(repeating: "k", count: 60)
      for (path, body) in [
        ("customers", #"{"count":1}"#), ("stock", #"{"item":"kiwi","change":1}"#),
        ("juice", #"{"juice":"kiwi"}"#),
        ("vending/insert", #"{"amount":5000}"#),
      ] {
        let answer = try web.local("/api/v1/" + path, "-H", key, "-d", body)
        #expect(answer.status == 200, "\(path): \(answer.body)")
      }
      let other = "Idempotency-Key: " + String(repeating: "b", count: 60)
      // The machine checks the key before it looks for the drink.
      let bought = try web.local("/api/v1/vending/buy", "-H", other, "-d", #"{"product":"top"}"#)
      #expect(bought.status == 409 && bought.json["error"]["code"].text == "sold_out", "\(bought.body)")
      let form = "amount=1000&key=" + String(repeating: "f", count: 60)
      #expect(try web.local("/vending/insert", "-d", form, "-H", "Accept: application/json").status == 200)
    }
  }
}
