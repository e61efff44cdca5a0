// Identity of this build. Package.swift defines it as a macro of this target only, so that no other target is
// recompiled when it changes.
#ifndef CBUILD_H
#define CBUILD_H

/// A short digest of the sources, or "dev" if none was computed.
const char *bank_build_id(void);

#endif
