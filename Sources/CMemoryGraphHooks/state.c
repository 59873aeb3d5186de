// state.c: the one symbol by which a reader finds the agent's tables.
#include "mg_state.h"

mg_state_layout mg_state;
