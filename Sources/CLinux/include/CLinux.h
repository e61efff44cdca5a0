// What Swift's Glibc module does not import.
#ifndef CLINUX_H
#define CLINUX_H
#endif
