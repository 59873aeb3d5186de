-- What there is: runs, those without a finding, those of which lines are missing, hosts, the first and the last.
SELECT
  COUNT(*) AS runs,
  SUM(CASE WHEN found = 0 AND COALESCE(declared, 1) = 0 THEN 1 ELSE 0 END) AS clean_runs,
  SUM(CASE WHEN declared IS NULL OR declared <> found THEN 1 ELSE 0 END) AS incomplete_runs,
  COUNT(DISTINCT NULLIF(host_name, '')) AS hosts,
  COALESCE(MIN(run_time), '') AS first_time,
  COALESCE(MAX(run_time), '') AS last_time,
  (SELECT COUNT(*) FROM fingerprints) AS fingerprints
FROM runs
