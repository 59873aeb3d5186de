// MemoryGraphAgent
