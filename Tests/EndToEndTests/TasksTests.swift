// What `memgraph tasks` says of programs that run: what tasks do, where they wait, who waits for whom.
internal import Testing

@Suite struct TasksTests {
  /// The groups of a case of LeakCases, without the task that is `main`.
  private func report(of name: String) throws -> (groups: [Report.Tasks], actors: [Report.Actor]) {
    let recording = try Recording(of: "LeakCases", [name])
    let report = try Report.of("tasks", recording.mark("round-3"))
    let groups = try #require(report.tasks)
    // The task that takes the mark is main itself, and runs.
    #expect(groups.contains { $0.state == "running" && $0.made?.function == "LeakCases_main" })
    return (
      groups.filter { $0.made?.function != "LeakCases_main" }, try #require(report.actors)
    )
  }

  @Test("Parked tasks are told by the function and line that they wait in")
  func parked() throws {
    let group = try #require(try report(of: "task-local").groups.first)
    #expect(
      (group.state, group.kind, group.count, group.leaked) == ("suspended", "unstructured", 9, 0))
    #expect(group.suspendedIn?.function == "LeakCases.Barrier.pass()")
    #expect(group.suspendedIn?.file?.hasSuffix("TaskLocal.swift") == true)
    #expect((group.suspendedIn?.line ?? 0) > 0)
    #expect(group.made?.file?.hasSuffix("TaskLocal.swift") == true)
  }

  @Test("Tasks that nobody can resume are leaked")
  func dropped() throws {
    let groups = try report(of: "dropped-continuation").groups
    #expect(groups.map(\.count) == [9])
    #expect(groups.map(\.leaked) == [9])
    #expect(groups[0].suspendedIn?.function.hasPrefix("LeakCases.answer(") == true)
  }

  @Test("Jobs wait for an actor that is busy")
  func enqueued() throws {
    let (groups, actors) = try report(of: "actor-queue")
    #expect(actors.map(\.type) == ["LeakCases.Press"])
    #expect(actors.map(\.jobs) == [9])
    #expect(groups.contains { $0.state == "enqueued" && $0.count == 9 })
  }

  @Test("Children of async let stand in their parents' memory, and are tasks")
  func asyncLet() throws {
    let groups = try report(of: "async-let-parked").groups
    let children = try #require(groups.first { $0.kind == "asyncLet" })
    #expect((children.state, children.count) == ("suspended", 9))
    #expect(children.suspendedIn?.function == "LeakCases.Counter.weigh(_:keep:)")
    #expect(groups.contains { $0.kind == "unstructured" && $0.count == 9 })
  }

  @Test("A group's finished children are there until somebody takes their results")
  func finishedChildren() throws {
    let groups = try report(of: "task-group").groups
    #expect(groups.map(\.kind) == ["groupChild"])
    #expect(groups.map(\.state) == ["complete"])
    #expect(groups.map(\.count) == [9])
  }

  @Test("A sleeping task's inner task was made by the sleep, not by the runtime's allocator")
  func sleeping() throws {
    let groups = try report(of: "sleeping-task").groups
    #expect(groups.map(\.count) == [9, 9])
    for group in groups {
      #expect(group.made?.function.contains("swift_task_create") == false)
    }
  }
}
