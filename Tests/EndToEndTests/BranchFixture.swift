// The branch that every test here drives is a fixture of its own, because the tests with a browser drive it, too. It is imported
// once for all files, each of which needs it.
@_exported import BranchFixture
