-- When each finding was seen first and last, and how many later runs of the same tests don't have it.
WITH later AS (
  SELECT fingerprints.fingerprint, COUNT(DISTINCT runs.run) AS runs_without
  FROM fingerprints
  JOIN (SELECT DISTINCT fingerprint, program, test_name FROM found) AS places
    ON places.fingerprint = fingerprints.fingerprint
  JOIN runs
    ON runs.program = places.program AND runs.test_name = places.test_name AND runs.run > fingerprints.last_run
  GROUP BY fingerprints.fingerprint
)
SELECT
  fingerprints.fingerprint, kind, type_name,
  CASE WHEN COALESCE(runs_without, 0) > 0 THEN 'gone' ELSE 'there' END AS state,
  first_seen, first_commit, last_seen, last_commit, runs, COALESCE(runs_without, 0) AS runs_without
FROM fingerprints LEFT JOIN later ON later.fingerprint = fingerprints.fingerprint
ORDER BY last_run DESC, fingerprint
