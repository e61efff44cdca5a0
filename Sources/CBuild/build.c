// Identity of this build; see the header.
#include "CBuild.h"

#ifndef BANK_BUILD_ID
#define BANK_BUILD_ID "dev"
#endif

const char *bank_build_id(void) { return BANK_BUILD_ID; }
