// The files of Assets as bytes of the executable; see the header. With #embed (Clang 19, GCC 15), a build
// detects changes of the files. With an older compiler the assembler includes the files, and a change takes
// effect when this source file is compiled again.
#include "CWebAssets.h"

#ifndef __has_embed
#define __has_embed(file) 0
#endif

// The files, each with its symbol, name and type. An #embed directive needs its own line, which a macro cannot
// produce.
#define ASSETS(EACH)                                                                                         \
  EACH(style_css, "style.css", css)                                                                          \
  EACH(page_js, "page.js", script)                                                                           \
  EACH(server_js, "server.js", script)                                                                       \
  EACH(proof_js, "proof.js", script)                                                                         \
  EACH(stream_js, "stream.js", script)                                                                       \
  EACH(shared_js, "shared.js", script)                                                                       \
  EACH(live_js, "live.js", script)                                                                           \
  EACH(timer_js, "timer.js", script)                                                                         \
  EACH(dialog_js, "dialog.js", script)                                                                       \
  EACH(chime_js, "chime.js", script)                                                                         \
  EACH(stepper_js, "stepper.js", script)                                                                     \
  EACH(more_css, "more.css", css)                                                                            \
  EACH(icon_svg, "icon.svg", drawing)

// The value 1 is __STDC_EMBED_FOUND__, which older compilers do not define.
#if !defined(BANK_ASSETS_BY_ASSEMBLER) && __has_embed("Assets/style.css") == 1
#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char style_css[] = {
#embed "Assets/style.css"
};
static const unsigned char more_css[] = {
#embed "Assets/more.css"
};
static const unsigned char page_js[] = {
#embed "Assets/page.js"
};
static const unsigned char server_js[] = {
#embed "Assets/server.js"
};
static const unsigned char proof_js[] = {
#embed "Assets/proof.js"
};
static const unsigned char stream_js[] = {
#embed "Assets/stream.js"
};
static const unsigned char shared_js[] = {
#embed "Assets/shared.js"
};
static const unsigned char live_js[] = {
#embed "Assets/live.js"
};
static const unsigned char timer_js[] = {
#embed "Assets/timer.js"
};
static const unsigned char dialog_js[] = {
#embed "Assets/dialog.js"
};
static const unsigned char chime_js[] = {
#embed "Assets/chime.js"
};
static const unsigned char stepper_js[] = {
#embed "Assets/stepper.js"
};
static const unsigned char icon_svg[] = {
#embed "Assets/icon.svg"
};
#define LENGTH(symbol) sizeof(symbol)
#else
// Package.swift defines the directory of the files, because the assembler does not search in the directory of
// the source.
#define ASSET(symbol, file, type)                                                                            \
  __asm__(".pushsection .rodata\n.globl bank_" #symbol "\nbank_" #symbol                                     \
          ":\n.incbin \"" BANK_ASSETS "/" file "\"\n.globl bank_" #symbol "_end\nbank_" #symbol              \
          "_end:\n.byte 0\n.popsection\n");                                                                  \
  extern const unsigned char symbol[] __asm__("bank_" #symbol);                                              \
  extern const unsigned char symbol##_end[] __asm__("bank_" #symbol "_end");
ASSETS(ASSET)
#define LENGTH(symbol) ((size_t)(symbol##_end - symbol))
#endif

static const char css[] = "text/css; charset=utf-8";
static const char script[] = "text/javascript; charset=utf-8";
static const char drawing[] = "image/svg+xml";

#define ONE(symbol, file, type) +1
size_t bank_web_asset_count(void) { return 0 ASSETS(ONE); }

struct bank_web_asset bank_web_asset_at(size_t place) {
#define ROW(symbol, file, type) {file, type, symbol, LENGTH(symbol)},
  const struct bank_web_asset assets[] = {ASSETS(ROW)};
  size_t last = sizeof assets / sizeof *assets - 1;
  return assets[place < last ? place : last];
}

// Returns true if the whole line of a script or a style sheet is a comment. The line starts after its indentation.
static size_t is_comment(const unsigned char *line, size_t length, const char *type) {
  if (type == script) return length >= 2 && line[0] == '/' && line[1] == '/';
  // In a style sheet, only a comment that fills one line is removed.
  return type == css && length >= 4 && line[0] == '/' && line[1] == '*' && line[length - 2] == '*' && line[length - 1] == '/';
}

size_t bank_web_asset_plain(struct bank_web_asset asset, unsigned char *into) {
  size_t count = 0, place = 0;
  int is_plain = asset.type != script && asset.type != css;
  while (place < asset.length) {
    size_t end = place;
    while (end < asset.length && asset.bytes[end] != '\n') end++;
    if (!is_plain) while (place < end && asset.bytes[place] == ' ') place++;
    size_t length = end - place;
    if (is_plain || (length > 0 && !is_comment(asset.bytes + place, length, asset.type))) {
      for (size_t byte = place; byte < end; byte++) into[count++] = asset.bytes[byte];
      if (end < asset.length) into[count++] = '\n';
    }
    place = end + 1;
  }
  return count;
}

uint64_t bank_web_asset_digest(struct bank_web_asset asset) {
  uint64_t digest = 14695981039346656037u;
  for (size_t place = 0; place < asset.length; place++) {
    digest = (digest ^ asset.bytes[place]) * 1099511628211u;
  }
  return digest;
}
