// Assets of the pages: style sheets, scripts, an icon. They are part of the executable, so that no file can be
// missing or belong to another build. Invariant: the bytes are those of the files in Assets, and a digest
// depends on nothing else.
#ifndef CWEBASSETS_H
#define CWEBASSETS_H

#include <stddef.h>
#include <stdint.h>

/// One asset.
struct bank_web_asset {
  /// Name in the address, after `/assets/`.
  const char *_Nonnull name;
  /// Value for `Content-Type`.
  const char *_Nonnull type;
  /// The bytes, which are valid as long as the process runs.
  const unsigned char *_Nonnull bytes;
  /// Number of bytes.
  size_t length;
};

/// Number of assets.
size_t bank_web_asset_count(void);

/// The asset at an index below the count; the last one for any other index.
struct bank_web_asset bank_web_asset_at(size_t place);

/// Copies an asset in the form in which it is sent: style sheets and scripts without comment lines, empty lines and
/// indentation, other files unchanged. `into` must have room for the length of the asset. Returns the number of bytes.
size_t bank_web_asset_plain(struct bank_web_asset asset, unsigned char *_Nonnull into);

/// A 64-bit hash of the bytes (FNV-1a). Each call reads all bytes, so callers should store the result.
uint64_t bank_web_asset_digest(struct bank_web_asset asset);

#endif
