// SQLiteViews: what most queries begin with. docs/export.md tells what each is for.

/// The views of a database.
enum SQLiteViews {
  static let all = [objectList, retained, retainers, liveTypes, allocationSites]

  /// Each object with its names in words.
  private static let objectList = """
    object_list AS SELECT objects.id, snapshot_id, printf('0x%x', address) AS address, types.name AS type, types.module,
      types.is_own, kind, state, objects.bytes, retained_bytes, retained_objects,
      generation, (SELECT marks.name FROM marks WHERE marks.snapshot_id = objects.snapshot_id
        AND marks.generation >= objects.generation ORDER BY marks.generation LIMIT 1) AS mark,
      stack_id, strong_count, is_alive, is_reachable, is_leaked, identity
    FROM objects JOIN types ON types.id = type_id
    """

  /// What would go with each object.
  private static let retained = """
    retained AS SELECT id AS object_id, dominator_id, retained_objects AS objects, retained_bytes AS bytes FROM objects
    """

  /// Who refers to each object, and what from outside does.
  private static let retainers = """
    retainers AS SELECT target_id AS object_id, source_id AS holder_id, types.name AS holder, fields.field, fields.via, fields.strength,
      fields.provenance, fields.holds
    FROM edges JOIN objects ON objects.id = source_id JOIN types ON types.id = objects.type_id
      JOIN fields ON fields.id = field_id
    UNION ALL SELECT object_id, NULL, name, '', NULL, strength, provenance, strength = 'strong' FROM roots
    """

  /// What is alive by type, under the names that reports count by.
  private static let liveTypes = """
    live_types AS SELECT snapshot_id, counted_as AS type, count(*) AS objects, sum(objects.bytes) AS bytes,
      sum(is_leaked) AS leaked_objects
    FROM objects JOIN types ON types.id = type_id WHERE is_alive GROUP BY snapshot_id, counted_as
    """

  /// What is alive by the program's own code that asked for it: the innermost frame of each stack that is its own.
  private static let allocationSites = """
    allocation_sites AS WITH RECURSIVE up (stack_id, call, place) AS (
        SELECT DISTINCT stack_id, stack_id, 0 FROM objects WHERE stack_id IS NOT NULL
        UNION ALL SELECT stack_id, stacks.caller_id, place + 1 FROM up JOIN stacks ON stacks.id = call
          JOIN frames ON frames.id = stacks.frame_id WHERE NOT frames.is_own AND stacks.caller_id IS NOT NULL),
      site AS (SELECT stack_id, frames.function, frames.file, frames.line FROM up JOIN stacks ON stacks.id = call
        JOIN frames ON frames.id = stacks.frame_id WHERE frames.is_own)
    SELECT snapshot_id, function, file, line, count(*) AS objects, sum(bytes) AS bytes FROM objects JOIN site USING (stack_id)
    WHERE is_alive GROUP BY snapshot_id, function, file, line
    """
}
