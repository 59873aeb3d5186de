-- On how many hosts each finding was found, of all that have run anything.
SELECT
  fingerprint, kind, type_name, hosts,
  (SELECT COUNT(DISTINCT NULLIF(host_name, '')) FROM runs) AS all_hosts,
  runs, last_seen
FROM fingerprints
ORDER BY hosts DESC, runs DESC, fingerprint
