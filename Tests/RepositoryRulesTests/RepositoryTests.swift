// The rules, applied to this repository. The files beside this one plant violations to show that each rule
// finds them.

import Testing

@Suite("The repository")
struct RepositoryTests {
  let repository = Repository()

  /// Each violation is an issue of its own, so that one run names them all.
  private func expectNone(_ violations: [Violation], at location: SourceLocation = #_sourceLocation) {
    for violation in violations {
      Issue.record("\(violation)", sourceLocation: location)
    }
  }

  @Test("each target is above the floors that it imports")
  func floors() throws {
    let manifest = try repository.manifest()
    #expect(Manifest(manifest).declarations.count > 10, "the manifest was not understood")
    expectNone(FloorRules.checkManifest(manifest))
  }

  @Test("each import of our own is declared")
  func imports() throws {
    let manifest = Manifest(try repository.manifest())
    expectNone(try repository.files().flatMap { FloorRules.checkImports($0, manifest) })
  }

  @Test("no package is used")
  func packages() throws {
    expectNone(FloorRules.checkPackages(try repository.manifest()))
  }

  @Test("no forbidden call is made and no forbidden module imported")
  func calls() throws {
    let files = try repository.files()
    expectNone(files.flatMap(CallRules.checkBannedWords))
    expectNone(files.flatMap(CallRules.checkModules))
  }

  @Test("files have a head, a meaningful name, and a readable length")
  func files() throws {
    let files = try repository.files()
    #expect(files.count > 30, "the checkout was not found at \(repository.root.path)")
    expectNone(files.flatMap(FileRules.checkHead))
    expectNone(files.flatMap(FileRules.checkLength))
    expectNone(files.flatMap(FileRules.checkName))
  }

  @Test("every public declaration is documented")
  func declarations() throws {
    expectNone(try repository.files().flatMap(DeclarationRules.checkComments))
  }

  @Test("the root contains only allowed names")
  func topLevel() throws {
    expectNone(FileRules.checkTopLevel(try repository.topLevel()))
  }

  @Test("nothing depends on one machine, and nothing is left for later")
  func contents() throws {
    expectNone(try repository.files().flatMap(FileRules.checkContents))
  }

  @Test("the README is short enough, links lead somewhere, and Korean has one style")
  func documentation() throws {
    let files = try repository.files()
    let paths = try repository.paths()
    let headings = Dictionary(
      uniqueKeysWithValues: files.filter { $0.path.hasSuffix(".md") }.map {
        ($0.path, DocumentationRules.anchors(of: $0))
      })
    #expect(paths.contains("README.md") && paths.contains(DocumentationRules.index))
    expectNone(files.flatMap(DocumentationRules.checkReadme))
    expectNone(files.flatMap { DocumentationRules.checkLinks($0, paths) })
    expectNone(files.flatMap { DocumentationRules.checkAnchors($0, headings) })
    expectNone(files.flatMap { DocumentationRules.checkIndex($0, paths) })
    expectNone(files.flatMap { DocumentationRules.checkPaths($0, paths) })
    expectNone(files.flatMap(DocumentationRules.checkKorean))
  }

  @Test("no text contains a word of the ban list")
  func words() throws {
    expectNone(try repository.files().flatMap(WordRules.check))
  }

  @Test("each script can be run and states its purpose")
  func scripts() throws {
    let files = try repository.files()
    #expect(files.contains { $0.path == "scripts/bankctl" })
    expectNone(files.flatMap(FileRules.checkScript))
  }
}
