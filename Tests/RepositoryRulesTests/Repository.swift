// Reads the checkout that these tests were compiled from. The only file here that touches the disk: the rules
// get names and texts. Build output and the version control's own files are not part of the repository. A
// file that cannot be read fails the calling test.

import Foundation

struct Repository {
  let root: URL

  /// The checkout of this file.
  init(file: String = #filePath) {
    root = URL(fileURLWithPath: file)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  }

  /// The names directly in the root.
  func topLevel() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.path).sorted()
  }

  /// Every text file of the repository, in the order of the paths.
  func files() throws -> [File] {
    var files: [File] = []
    for name in try topLevel() where !Self.isOutput(name) {
      try collect(name, into: &files)
    }
    return files
  }

  /// The paths of all files, including pictures.
  func paths() throws -> Set<String> {
    var paths: Set<String> = []
    for name in try topLevel() where !Self.isOutput(name) {
      paths.insert(name)
      let below = FileManager.default.enumerator(atPath: root.appending(path: name).path)
      while let path = below?.nextObject() as? String { paths.insert("\(name)/\(path)") }
    }
    return paths
  }

  func manifest() throws -> File {
    File("Package.swift", try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8))
  }

  /// Git's, SwiftPM's and editors' own files, as .gitignore has them.
  private static func isOutput(_ name: String) -> Bool {
    name == ".git" || name == ".swiftpm" || name.hasPrefix(".build") || name.hasSuffix(".swp")
      || name.hasSuffix("~")
  }

  private func collect(_ path: String, into files: inout [File]) throws {
    let url = root.appending(path: path)
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    if attributes[.type] as? FileAttributeType == .typeDirectory {
      for name in try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
      where !Self.isOutput(name) {
        try collect("\(path)/\(name)", into: &files)
      }
      return
    }
    // A file that is not text (a corpus, a picture) has no lines to judge.
    guard let text = String(data: try Data(contentsOf: url), encoding: .utf8) else { return }
    let permissions = attributes[.posixPermissions] as? Int ?? 0
    files.append(File(path, text, isExecutable: permissions & 0o111 != 0))
  }
}
