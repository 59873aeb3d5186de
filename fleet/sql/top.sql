-- Findings by what they retain: the most that any run has seen.
SELECT
  fingerprint, kind, type_name, most_retained_bytes, last_retained_bytes, last_objects, runs, hosts, last_seen, cut_edge, advice,
  place
FROM fingerprints
ORDER BY most_retained_bytes DESC, fingerprint
