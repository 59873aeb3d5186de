-- Lines that were skipped, by name.
SELECT file, number, problem
FROM lines
WHERE problem <> ''
ORDER BY file, number
