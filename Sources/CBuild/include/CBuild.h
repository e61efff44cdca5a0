// Identity of this build: one string that all executables of one build share. Package.swift passes it in;
// only this target is recompiled when it changes.
#ifndef CBUILD_H
#define CBUILD_H

/// A short digest of the sources, or "dev" if none was computed.
const char *bank_build_id(void);

#endif
