// Tests of GraphPrimitives.
