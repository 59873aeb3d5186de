-- What all questions are asked of. `lines` and `parameters` are there already. DuckDB and Spark read this file and the others
-- as they are: so there are no dates (texts in UTC sort as they should), no lists, and no literal with a backslash.

-- The lines that are whole and asked for.
CREATE OR REPLACE TEMPORARY VIEW whole AS
SELECT lines.*
FROM lines CROSS JOIN parameters
WHERE problem = ''
  AND (wanted_program = '' OR program = wanted_program)
  AND (wanted_test = '' OR test_name = wanted_test);

-- A row for each run, by whatever line of it is left. A run's name begins with its time, so names sort by time.
CREATE OR REPLACE TEMPORARY VIEW runs AS
SELECT
  run,
  MAX(run_time) AS run_time,
  MAX(commit_id) AS commit_id,
  MAX(host_name) AS host_name,
  MAX(program) AS program,
  MAX(test_name) AS test_name,
  MAX(declared) AS declared,
  COUNT(DISTINCT NULLIF(fingerprint, '')) AS found
FROM whole
GROUP BY run;

-- A row for each finding of a run; a file that was copied twice counts once.
CREATE OR REPLACE TEMPORARY VIEW found AS
SELECT
  run,
  fingerprint,
  MAX(run_time) AS run_time,
  MAX(commit_id) AS commit_id,
  MAX(host_name) AS host_name,
  MAX(program) AS program,
  MAX(test_name) AS test_name,
  MAX(kind) AS kind,
  MAX(type_name) AS type_name,
  MAX(objects) AS objects,
  MAX(bytes) AS bytes,
  MAX(retained_bytes) AS retained_bytes,
  MAX(growth) AS growth,
  MAX(growth_bytes) AS growth_bytes,
  MAX(cut_edge) AS cut_edge,
  MAX(advice) AS advice,
  MAX(place) AS place
FROM whole
WHERE line = 'finding'
GROUP BY run, fingerprint;

-- A row for each fingerprint: what it is as the last run tells it, when and where it was found.
CREATE OR REPLACE TEMPORARY VIEW fingerprints AS
SELECT
  fingerprint,
  MAX_BY(kind, run) AS kind,
  MAX_BY(type_name, run) AS type_name,
  MAX_BY(cut_edge, run) AS cut_edge,
  MAX_BY(advice, run) AS advice,
  MAX_BY(place, run) AS place,
  COUNT(*) AS runs,
  COUNT(DISTINCT NULLIF(host_name, '')) AS hosts,
  MIN(run) AS first_run,
  MIN_BY(run_time, run) AS first_seen,
  MIN_BY(commit_id, run) AS first_commit,
  MAX(run) AS last_run,
  MAX_BY(run_time, run) AS last_seen,
  MAX_BY(commit_id, run) AS last_commit,
  MAX_BY(objects, run) AS last_objects,
  MAX_BY(retained_bytes, run) AS last_retained_bytes,
  MAX(retained_bytes) AS most_retained_bytes
FROM found
GROUP BY fingerprint;

-- Where `new` begins: at a run's name. Of a commit it is that of its first run.
CREATE OR REPLACE TEMPORARY VIEW cutoff AS
SELECT
  since_commit,
  CASE WHEN since_commit = '' THEN MAX(since_start) ELSE MIN(run) END AS start
FROM parameters LEFT JOIN runs
  ON since_commit <> '' AND SUBSTRING(commit_id, 1, LENGTH(since_commit)) = since_commit
GROUP BY since_commit;
