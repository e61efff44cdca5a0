// A library without functions of its own: LD_PRELOAD loads it before all others into processes under test. See
// ld.so(8).
#ifndef SLOW_DISK_H
#define SLOW_DISK_H

#endif
