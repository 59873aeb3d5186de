// mg_state.h: the one symbol by which a reader finds the agent's tables.
#pragma once

#include "mg_layout.h"

__attribute__((visibility("default"))) extern mg_state_layout mg_state;
