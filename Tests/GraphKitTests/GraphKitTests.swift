// Tests of GraphKit.
