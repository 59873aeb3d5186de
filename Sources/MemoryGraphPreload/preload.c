// MemoryGraphPreload: the agent as a library to preload; all of it is CMemoryGraphHooks.
#include "memory_graph.h"
