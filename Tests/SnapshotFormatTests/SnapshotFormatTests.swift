// Tests of SnapshotFormat.
