#if !__has_include(<png.h>)
#error "group-container: the trait PNG needs libpng-dev: apt-get install libpng-dev, or build without the trait"
#else

#include <png.h>
#include <string.h>

// The macros of libpng's simplified interface, which Swift does not import. Each call returns 0 after an error, whose
// text is in the image.

static inline int photo_png_begin(png_imagep image, const void *bytes, size_t count) {
    memset(image, 0, sizeof *image);
    image->version = PNG_IMAGE_VERSION;
    return png_image_begin_read_from_memory(image, bytes, count);
}

// Reads 4 bytes a pixel: red, green, blue and opacity. Frees the image.
static inline int photo_png_read(png_imagep image, void *pixels) {
    image->format = PNG_FORMAT_RGBA;
    return png_image_finish_read(image, NULL, pixels, 0, NULL);
}

// Writes into `bytes`, of which `count` are there, and sets the count; with NULL the count only.
static inline int photo_png_write(
    png_imagep image, png_uint_32 width, png_uint_32 height, void *bytes, png_alloc_size_t *count, const void *pixels) {
    memset(image, 0, sizeof *image);
    image->version = PNG_IMAGE_VERSION;
    image->width = width;
    image->height = height;
    image->format = PNG_FORMAT_RGBA;
    return png_image_write_to_memory(image, bytes, count, 0, pixels, 0, NULL);
}

static inline const char *photo_png_fault(const png_image * image) { return image->message; }

#endif
