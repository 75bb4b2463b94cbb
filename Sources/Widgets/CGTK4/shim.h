// GTK 4, by pkg-config (Debian: libgtk-4-dev), for the C code of CGroupWindow, which includes its headers. No Swift code
// imports this module.
