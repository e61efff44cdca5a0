// What the pages of the branch need beside their HTML: a style sheet, scripts, a sign. It stands in the executable, so that there is
// nothing to find, to miss or to mix up. Invariant: the bytes are those of the files in Assets, and a digest names them alone.
#ifndef CWEBASSETS_H
#define CWEBASSETS_H

#include <stddef.h>
#include <stdint.h>

/// One of them.
struct bank_web_asset {
  /// The name behind `/assets/`.
  const char *_Nonnull name;
  /// For `Content-Type`.
  const char *_Nonnull type;
  /// The bytes; they live as long as the process.
  const unsigned char *_Nonnull bytes;
  /// How many.
  size_t length;
};

/// How many there are.
size_t bank_web_asset_count(void);

/// The one at a place below the count; the last one for any other place.
struct bank_web_asset bank_web_asset_at(size_t place);

/// Copies an asset as it is sent, without lines of comment and without the spaces in front of each line, which are for readers of the
/// file; what is neither a sheet nor a script is copied whole. `into` has room for the length of the asset. Returns how many bytes.
size_t bank_web_asset_plain(struct bank_web_asset asset, unsigned char *_Nonnull into);

/// 64 bits that are others for other bytes (FNV-1a), for `ETag`. It reads all of them: ask once.
uint64_t bank_web_asset_digest(struct bank_web_asset asset);

#endif
