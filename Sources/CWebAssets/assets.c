// Owns the files of Assets as bytes of the executable; see the header. A compiler that has #embed (Clang 19, GCC 15) sees when a file
// changes; with an older one the assembler takes the file in, and a change is seen when this file is compiled again.
#include "CWebAssets.h"

#ifndef __has_embed
#define __has_embed(file) 0
#endif

// 1 is __STDC_EMBED_FOUND__.
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
// Package.swift says where the files are: the assembler does not look beside the source.
#define ASSET(symbol, file)                                                                                  \
  __asm__(".pushsection .rodata\n.globl bank_" #symbol "\nbank_" #symbol                                     \
          ":\n.incbin \"" BANK_ASSETS "/" file "\"\n.globl bank_" #symbol "_end\nbank_" #symbol              \
          "_end:\n.byte 0\n.popsection\n");                                                                  \
  extern const unsigned char symbol[] __asm__("bank_" #symbol);                                              \
  extern const unsigned char symbol##_end[] __asm__("bank_" #symbol "_end");
ASSET(style_css, "style.css")
ASSET(more_css, "more.css")
ASSET(page_js, "page.js")
ASSET(live_js, "live.js")
ASSET(timer_js, "timer.js")
ASSET(dialog_js, "dialog.js")
ASSET(chime_js, "chime.js")
ASSET(stepper_js, "stepper.js")
ASSET(icon_svg, "icon.svg")
#define LENGTH(symbol) ((size_t)(symbol##_end - symbol))
#endif

static const char css[] = "text/css; charset=utf-8";
static const char script[] = "text/javascript; charset=utf-8";
static const char drawing[] = "image/svg+xml";

size_t bank_web_asset_count(void) { return 9; }

struct bank_web_asset bank_web_asset_at(size_t place) {
  switch (place) {
  case 0: return (struct bank_web_asset){"style.css", css, style_css, LENGTH(style_css)};
  case 1: return (struct bank_web_asset){"page.js", script, page_js, LENGTH(page_js)};
  case 2: return (struct bank_web_asset){"live.js", script, live_js, LENGTH(live_js)};
  case 3: return (struct bank_web_asset){"timer.js", script, timer_js, LENGTH(timer_js)};
  case 4: return (struct bank_web_asset){"dialog.js", script, dialog_js, LENGTH(dialog_js)};
  case 5: return (struct bank_web_asset){"chime.js", script, chime_js, LENGTH(chime_js)};
  case 6: return (struct bank_web_asset){"stepper.js", script, stepper_js, LENGTH(stepper_js)};
  case 7: return (struct bank_web_asset){"more.css", css, more_css, LENGTH(more_css)};
  default: return (struct bank_web_asset){"icon.svg", drawing, icon_svg, LENGTH(icon_svg)};
  }
}

uint64_t bank_web_asset_digest(struct bank_web_asset asset) {
  uint64_t digest = 14695981039346656037u;
  for (size_t place = 0; place < asset.length; place++) {
    digest = (digest ^ asset.bytes[place]) * 1099511628211u;
  }
  return digest;
}
