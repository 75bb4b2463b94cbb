"""The screen: what is typed and clicked, and how it looks."""

from .patience import PICTURES, eventually, run


def xdotool(*words):
    run("xdotool", *[str(word) for word in words])


def picture():
    """Returns the screen as a file in memory, uncompressed."""
    return run("import", "-silent", "-window", "root", "ppm:-")


def settled():
    """Returns a picture of the screen, once two in a row are the same."""
    last = [picture()]

    def is_same():
        now = picture()
        same = now == last[0]
        last[0] = now
        return same

    eventually("the screen is at rest", is_same)
    return last[0]


def pixels(image, box):
    x, y, width, height = box
    return run("convert", "ppm:-", "-crop", f"{width}x{height}+{x}+{y}", "+repage", "rgb:-", input=image)


def brightness(image, box):
    x, y, width, height = box
    crop = ["-crop", f"{width}x{height}+{x}+{y}", "+repage", "-colorspace", "gray", "-format", "%[fx:mean]", "info:"]
    return float(run("convert", "ppm:-", *crop, input=image))


def keep(name, image, frame):
    if PICTURES is not None:
        x, y, width, height = frame
        crop = f"{width}x{height}+{x}+{y}"
        run("convert", "ppm:-", "-crop", crop, "+repage", f"png:{PICTURES}/{name}.png", input=image)
