-- Findings that grow: within a run, from mark to mark, or from the first run of a test in which they were found to the last.
-- A row for each finding and test, since numbers of different tests don't compare.
WITH trends AS (
  SELECT
    fingerprint,
    program,
    test_name,
    MAX_BY(kind, run) AS kind,
    MAX_BY(type_name, run) AS type_name,
    COUNT(*) AS runs,
    SUM(CASE WHEN growth > 0 THEN 1 ELSE 0 END) AS growing_runs,
    COALESCE(MAX(growth), 0) AS most_growth,
    COALESCE(MAX(growth_bytes), 0) AS most_growth_bytes,
    MIN_BY(objects, run) AS first_objects,
    MAX_BY(objects, run) AS last_objects,
    MAX_BY(place, run) AS place
  FROM found
  GROUP BY fingerprint, program, test_name
)
SELECT
  fingerprint, kind, type_name, program, test_name, runs, growing_runs, most_growth, most_growth_bytes, first_objects,
  last_objects, place
FROM trends
WHERE growing_runs > 0 OR last_objects > first_objects
ORDER BY most_growth_bytes DESC, last_objects - first_objects DESC, fingerprint, program, test_name
