// Tests of MemoryGraphAgent.
