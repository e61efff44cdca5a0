// The identity of this build, one string that every executable of one build shares.
// Package.swift hands it in; only this target is compiled anew when it changes.
#ifndef CBUILD_H
#define CBUILD_H

/// A short digest of the sources, or "dev" where nobody computed one.
const char *bank_build_id(void);

#endif
