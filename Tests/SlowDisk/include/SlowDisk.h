// Nobody calls this library: it is loaded before all others into processes under test, with LD_PRELOAD. See ld.so(8).
#ifndef SLOW_DISK_H
#define SLOW_DISK_H

#endif
