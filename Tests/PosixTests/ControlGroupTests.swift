// Control groups: how one is found, and that all processes started in one are ended with it, wherever they
// have gone. If this machine does not allow groups, that is printed, and only the parsing of its tables is
// tested. Invariant: a group that a test creates is emptied and removed with it.
import Glibc
import PosixFixture
import Testing
import Time

@testable import Posix

@Suite(.serialized) struct ControlGroupTests {
  /// A group below this process's own.
  private final class TestGroup {
    let group: ControlGroup

    init?() {
      guard let own = ControlGroup.own(), let group = try? own.subgroup("bank-posix-tests-\(getpid())"),
        group.exists
      else {
        print("NOT CHECKED: a group of processes, because none can be made here")
        return nil
      }
      self.group = group
    }

    deinit {
      group.kill()
      let isGone = try? eventually { group.remove() }
      #expect(isGone == true, "the group of a test is left: \(group.path)")
    }
  }

  private static func shell(_ script: String, in group: ControlGroup) -> ChildProcess.Program {
    ChildProcess.Program(
      path: "/bin/sh", words: ["sh", "-c", script].map { Array($0.utf8) },
      environment: ["PATH": "/usr/bin:/bin"],
      group: group)
  }

  @Test("a line of the table of mounts gives the place of a group")
  func mounts() throws {
    func path(_ line: String, _ name: String) -> String? { ControlGroup.Mount(line[...])?.path(of: name) }
    let whole = "41 31 0:38 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate"
    #expect(path(whole, "/a/b") == "/sys/fs/cgroup/a/b")
    #expect(path(whole, "/") == "/sys/fs/cgroup")
    #expect(path("41 31 0:38 / /odd\\040place rw - cgroup2 none rw", "/a") == "/odd place/a")
    // Only a part is mounted.
    let part = "41 31 0:38 /a /mnt rw - cgroup2 none rw"
    #expect(path(part, "/a/b") == "/mnt/b" && path(part, "/a") == "/mnt")
    #expect(path(part, "/ab") == nil && path(part, "/") == nil)
    // From another namespace, of another kind, or cut.
    #expect(path(whole, "/../a") == nil)
    for line in ["32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu", "41 31 0:38 / /mnt", "", "-"] {
      #expect(ControlGroup.Mount(line[...]) == nil, "\(line)")
    }
    #expect(path("41 31 0:38 / /a\\04 rw - cgroup2 none rw", "/") == "/a\\04")
  }

  @Test("a group is divided if this process may write to it, unless configured otherwise")
  func delegated() async {
    guard let own = ControlGroup.own() else { return }
    let mayWrite = access(own.path, W_OK) == 0 && access(own.path + "/cgroup.procs", W_OK) == 0
    #expect(ControlGroup.delegated() == (mayWrite ? own : nil))
    await #expect(processExitsWith: .success) {
      setenv("BANK_CONTROL_GROUPS", "no", 1)
      #expect(ControlGroup.delegated() == nil)
    }
    #expect(own.members.contains(CurrentProcess.pid))
    #expect(!ControlGroup(path: own.path + "/no such group").exists)
    #expect(!ControlGroup(path: own.path + "/no such group").kill())
    #expect(ControlGroup(path: own.path + "/no such group").remove())
  }

  @Test("a process in a group is ended with it, in another session, without parents or environment")
  func ended() throws {
    guard let subgroup = TestGroup() else { return }
    #expect(subgroup.group.acceptsProcesses)
    #expect(!subgroup.group.isPopulated)
    let output = try DescriptorPair.pipe()
    let child = try ChildProcess.start(
      Self.shell(
        "(setsid env -i sh -c 'trap \"\" TERM HUP; echo $$; sleep 600' &); trap '' TERM; echo $$; sleep 600",
        in: subgroup.group),
      input: try FileDescriptor.open("/dev/null", .readOnly), output: output.second,
      errors: try FileDescriptor.open("/dev/null", .writeOnly))
    #expect(subgroup.group.members.contains(child.pid))
    #expect(!subgroup.group.members.contains(CurrentProcess.pid))
    #expect(try eventually { subgroup.group.members.count >= 4 })
    let members = subgroup.group.members
    #expect(subgroup.group.isPopulated && subgroup.group.kill())
    #expect(child.wait().ending == .signal(SIGKILL, coreDumped: false))
    #expect(try eventually { members.allSatisfy { !ProcessTable.alive($0) } })
    #expect(try eventually { !subgroup.group.isPopulated })
    // A process that starts in another group is not affected by the former one.
    let next = try subgroup.group.subgroup("next")
    #expect(next.acceptsProcesses)
  }

  @Test("a program in a group starts as any other: limits, arguments, the step that has failed")
  func begins() throws {
    guard let subgroup = TestGroup() else { return }
    let output = try DescriptorPair.pipe()
    var program = Self.shell("ulimit -n; pwd; cut -d' ' -f5,6 /proc/$$/stat; exit 7", in: subgroup.group)
    (program.limits, program.directory) = ([ResourceLimit(.openFiles, 64)], "/")
    let child = try ChildProcess.start(
      program, input: try FileDescriptor.open("/dev/null", .readOnly), output: output.second,
      errors: try FileDescriptor.open("/dev/null", .writeOnly))
    #expect(
      String(decoding: try output.first.readAll(), as: UTF8.self) == "64\n/\n\(child.pid) \(child.pid)\n")
    #expect(child.wait().ending == .code(7))
    func failure(_ change: (inout ChildProcess.Program) -> Void) -> SystemError? {
      var program = Self.shell("exit", in: subgroup.group)
      change(&program)
      return #expect(throws: SystemError.self) {
        try ChildProcess.start(
          program, input: try FileDescriptor.open("/dev/null", .readOnly),
          output: try FileDescriptor.open("/dev/null", .writeOnly),
          errors: try FileDescriptor.open("/dev/null", .writeOnly)
        ).end()
      }
    }
    #expect(failure { $0.path = "/no/such/program" }?.call == "execve")
    #expect(failure { $0.directory = "/no/such/place" }?.call == "chdir")
    let missing = ControlGroup(path: subgroup.group.path + "/no such group")
    #expect(
      failure { $0.group = missing }
        == SystemError(call: ControlGroup.call, subject: missing.path, code: ENOENT))
    let noGroup = ControlGroup(path: "/")
    #expect(failure { $0.group = noGroup } == SystemError(call: ControlGroup.call, subject: "/", code: EBADF))
    #expect(!noGroup.acceptsProcesses)
  }

  @Test("a start for which descriptors have run out is not reported as an error of the group")
  func noDescriptors() async {
    await #expect(processExitsWith: .success) {
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var before = rlimit()
      getrlimit(resource, &before)
      let program = Self.shell("exit", in: ControlGroup(path: "/"))
      var errors: [SystemError] = []
      for room in 0...4 {
        let sources = (0..<3).map { _ in open("/dev/null", O_RDWR | O_CLOEXEC) }
        let lowestFree = dup(sources[0])
        close(lowestFree)
        var limit = before
        limit.rlim_cur = rlim_t(Int(lowestFree) + room)
        setrlimit(resource, &limit)
        do throws(SystemError) {
          _ = try ChildProcess.start(
            program, input: FileDescriptor(owning: sources[0]), output: FileDescriptor(owning: sources[1]),
            errors: FileDescriptor(owning: sources[2]))
        } catch { errors.append(error) }
        setrlimit(resource, &before)
      }
      #expect(errors.allSatisfy { !$0.isShortage || $0.call != ControlGroup.call }, "\(errors)")
      #expect(errors.contains { $0.code == EMFILE && $0.call == "clone" }, "\(errors)")
      #expect(errors.last == SystemError(call: ControlGroup.call, subject: "/", code: EBADF), "\(errors)")
    }
  }

  @Test("it is removed with the groups below it, and not while a process is in one")
  func removed() throws {
    guard let subgroup = TestGroup() else { return }
    let below = try subgroup.group.subgroup("thumbs-1")
    #expect(try subgroup.group.subgroup("thumbs-1") == below)
    #expect(subgroup.group.below == [below])
    let child = try ChildProcess.start(
      Self.shell("exec sleep 600", in: below), input: try FileDescriptor.open("/dev/null", .readOnly),
      output: try FileDescriptor.open("/dev/null", .writeOnly),
      errors: try FileDescriptor.open("/dev/null", .writeOnly))
    #expect(!subgroup.group.remove())
    #expect(subgroup.group.isPopulated, "processes below count")
    subgroup.group.kill()
    _ = child.wait()
    #expect(try eventually { subgroup.group.remove() })
    #expect(!subgroup.group.exists)
  }
}
