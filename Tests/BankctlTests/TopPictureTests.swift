// How the dashboard looks on any terminal, in both languages: golden lines, and what must be so at every size.
import Arguments
import BankModel
import Posix
import StockClient
import Testing
import Time
import VendingClient
import Wire

@testable import Console

@Suite("The picture of the dashboard") struct TopPictureTests {
  private func lines(
    _ model: TopModel, _ columns: Int, _ rows: Int, after milliseconds: Int64 = 0, _ palette: Palette = .none
  ) -> [String] {
    TopPicture(model: model, now: TopFixture.later(milliseconds), palette: palette)
      .lines(size: Terminal.Size(columns: columns, rows: rows)).lines
  }

  @Test("print", arguments: [Language.english, .korean])
  func look(language: Language) {
    for (columns, rows) in [(40, 12), (80, 24), (200, 50)] {
      for tab in ["1", "2", "3", "6", "?", "1\r"] {
        var model = TopFixture.model(language)
        model.press(tab)
        print("--- \(columns)×\(rows) \(tab)")
        for line in lines(model, columns, rows) { print("|" + line) }
      }
    }
  }
}
