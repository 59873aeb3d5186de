-- The commits that --since may mean.
SELECT commit_id, MIN(run_time) AS first_seen
FROM runs CROSS JOIN parameters
WHERE commit_id <> '' AND SUBSTRING(commit_id, 1, LENGTH(since_commit)) = since_commit
GROUP BY commit_id
ORDER BY commit_id
