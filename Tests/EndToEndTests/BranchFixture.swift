// Import of the branch for all files: it is a fixture of its own, because the browser tests drive it, too.
@_exported import BranchFixture
