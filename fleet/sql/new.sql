-- Fingerprints that were found since a commit or a time, and neither before nor in that commit's own runs.
SELECT
  fingerprint, kind, type_name, first_seen, first_commit, runs, hosts, most_retained_bytes, cut_edge, place
FROM fingerprints CROSS JOIN cutoff
WHERE first_run >= start
  AND NOT EXISTS (
    SELECT 1
    FROM found CROSS JOIN cutoff AS since
    WHERE found.fingerprint = fingerprints.fingerprint
      AND since.since_commit <> ''
      AND SUBSTRING(found.commit_id, 1, LENGTH(since.since_commit)) = since.since_commit
  )
ORDER BY most_retained_bytes DESC, fingerprint
