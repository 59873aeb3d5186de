#include "mg_state.h"

mg_state_layout mg_state;
