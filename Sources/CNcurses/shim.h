#pragma once
#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_WIDECHAR 1
#include <langinfo.h>
#include <locale.h>
#include <wchar.h>
#include <curses.h>

// <term.h> defines `lines`, `columns` and hundreds more as macros; this is all that is needed of it.
char *tigetstr(const char *name);
int tigetflag(const char *name);
int setupterm(const char *name, int output, int *error);

// Macros and the extended pair, which Swift cannot reach.
static inline int sostenuto_put(int row, int column, const wchar_t *characters, attr_t attributes, int pair) {
  cchar_t cell;
  if (setcchar(&cell, characters, attributes, 0, &pair) == ERR) return ERR;
  return mvwadd_wch(stdscr, row, column, &cell);
}
static inline int sostenuto_put_one(int row, int column, wchar_t character, attr_t attributes, int pair) {
  wchar_t characters[2] = {character, 0};
  return sostenuto_put(row, column, characters, attributes, pair);
}
static inline attr_t sostenuto_attributes(int bold, int underline, int reverse, int dim) {
  return (bold ? WA_BOLD : 0) | (underline ? WA_UNDERLINE : 0) | (reverse ? WA_REVERSE : 0) |
         (dim ? WA_DIM : 0);
}
static inline void sostenuto_background(attr_t attributes, int pair) {
  cchar_t cell;
  if (setcchar(&cell, L" ", attributes, 0, &pair) != ERR) wbkgrndset(stdscr, &cell);
}
// Hidden from Swift by the feature macros that it builds the C library with.
int wcwidth(wchar_t character);
static inline int sostenuto_width(wchar_t character) { return wcwidth(character); }
static inline const char *sostenuto_codeset(void) { return nl_langinfo(CODESET); }
static inline int sostenuto_colors(void) { return COLORS; }
static inline int sostenuto_pairs(void) { return COLOR_PAIRS; }
static inline int sostenuto_columns(void) { return stdscr ? getmaxx(stdscr) : 0; }
static inline int sostenuto_rows(void) { return stdscr ? getmaxy(stdscr) : 0; }
static inline void sostenuto_place(int row, int column) { wmove(stdscr, row, column); }
static inline void sostenuto_erase(void) { werase(stdscr); }
static inline void sostenuto_redraw_all(void) { clearok(curscr, TRUE); }
static inline void sostenuto_stage(void) { wnoutrefresh(stdscr); }
