#!/usr/bin/python3
"""ImageDecoder against Pillow: images in every format, colour mode and encoding that Pillow writes
and calque reads are decoded to the same bytes. Unsupported formats are rejected by name."""
import io
import pathlib
import struct
import sys
import tempfile
import zlib

import numpy as np

import peers

SIZES = [(1, 1), (7, 5), (16, 16), (33, 17), (2, 40), (50, 3)]
REFUSED = {"WEBP": "WebP", "JPEG2000": "JPEG 2000", "GIF": "GIF"}


def picture(width, height, mode):
    """Smooth colours with noise: blocks of all kinds."""
    from PIL import Image
    random = np.random.default_rng(width * 100 + height)
    y, x = np.mgrid[:height, :width]
    waves = [128 + 90 * np.sin(x / (3 + c) + y / (5 - c)) for c in range(3)]
    pixels = np.clip(np.stack(waves, -1) + random.normal(0, 12, (height, width, 3)), 0, 255)
    image = Image.fromarray(pixels.astype(np.uint8), "RGB")
    if mode in ("RGBA", "LA"):
        image = image.convert("RGB" if mode == "RGBA" else "L")
        image.putalpha(Image.fromarray(random.integers(0, 256, (height, width), np.uint8)))
    return image.convert(mode)


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def files():
    """(label, bytes) of all files to read."""
    for size in SIZES:
        label = f"{size[0]}x{size[1]}"
        for subsampling in (0, 1, 2):
            for options in ({"quality": 90}, {"quality": 30, "progressive": True},
                            {"quality": 75, "optimize": True}):
                yield (f"jpeg {label} {subsampling} {options}",
                       saved(picture(*size, "RGB"), "JPEG", subsampling=subsampling, **options))
        yield f"jpeg {label} grey", saved(picture(*size, "L"), "JPEG")
        yield f"jpeg {label} grey progressive", saved(picture(*size, "L"), "JPEG", progressive=True)
        for mode in ("1", "L", "P", "RGB", "RGBA", "LA"):
            yield f"png {label} {mode}", saved(picture(*size, mode), "PNG")
        for mode in ("1", "L", "P", "RGB", "RGBA"):
            yield f"bmp {label} {mode}", saved(picture(*size, mode), "BMP")
        for mode in ("1", "L", "RGB"):
            yield f"pnm {label} {mode}", saved(picture(*size, mode), "PPM")
        for mode in ("1", "L", "P", "RGB", "RGBA"):
            for packing in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
                yield (f"tiff {label} {mode} {packing}",
                       saved(picture(*size, mode), "TIFF", compression=packing))
        yield (f"tiff {label} predictor",
               saved(picture(*size, "RGB"), "TIFF", compression="tiff_lzw", tiffinfo={317: 2}))
        yield f"png {label} interlaced", interlaced(picture(*size, "RGB"))
    yield "pgm in text", b"P2 # words\n3 2\n7\n0 1 2\n3 4 7\n"
    yield "pbm in text", b"P1\n3 2\n01 0\n110"


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def interlaced(image):
    """Pillow reads interlaced files, but does not write them. Rows take turns with filters 1 and 2,
    so that each pass is filtered by itself."""
    pixels, rows = np.asarray(image), b""
    for x, y, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
                         (1, 0, 2, 2), (0, 1, 1, 2)):
        part = pixels[y::dy, x::dx].astype(np.int64)
        if not part.size:
            continue
        for i, row in enumerate(part):
            before = part[i - 1] if i else 0 * row
            left = np.concatenate([0 * row[:1], row[:-1]])
            filtered = row - (left if i % 2 else before)
            rows += bytes([1 if i % 2 else 2]) + (filtered % 256).astype(np.uint8).tobytes()
    head = struct.pack(">IIBBBBB", image.width, image.height, 8, 2, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + \
        chunk(b"IEND", b"")


def model(pixel_format):
    from onnx import helper
    node = helper.make_node("ImageDecoder", ["x"], ["y"], pixel_format=pixel_format)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 2, [None])],
                              [helper.make_tensor_value_info("y", 2, [None, None, None])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString()


def write(folder, data, pixel_format, expected):
    from onnx import numpy_helper
    (folder / "test_data_set_0").mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model(pixel_format))
    for name, array in (("input_0", np.frombuffer(data, np.uint8)), ("output_0", expected)):
        proto = numpy_helper.from_array(np.ascontiguousarray(array), name)
        (folder / "test_data_set_0" / f"{name}.pb").write_bytes(proto.SerializeToString())


def wanted(data, pixel_format):
    from PIL import Image
    image = Image.open(io.BytesIO(data))
    image = image.convert("RGB") if image.mode not in ("RGB", "L") else image
    if pixel_format == "Grayscale":
        return np.asarray(image.convert("L"))[..., None]
    pixels = np.asarray(image.convert("RGB"))
    return pixels[..., ::-1] if pixel_format == "BGR" else pixels


def main():
    report = peers.Report(__file__)
    if not report.needs("onnx", "pil"):
        return report.finish()
    with tempfile.TemporaryDirectory() as scratch:
        cases = []
        for label, data in files():
            for pixel_format in ("RGB", "Grayscale") if "16x16" in label else ("RGB",):
                folder = pathlib.Path(scratch) / str(len(cases))
                write(folder, data, pixel_format, wanted(data, pixel_format))
                cases.append((f"{label} {pixel_format}", folder))
        out = peers.calque("verify", "--rtol", 0, "--atol", 0, *[f for _, f in cases])[1]
        for (label, folder), line in zip(cases, out.splitlines()):
            report.check(label, line == f"ok {folder}", line)
        for kind, name in REFUSED.items():
            from PIL import features
            if kind == "WEBP" and not features.check("webp") or \
                    kind == "JPEG2000" and not features.check("jpg_2000"):
                continue
            folder = pathlib.Path(scratch) / kind
            data = saved(picture(8, 8, "RGB"), kind)
            write(folder, data, "RGB", np.zeros((8, 8, 3), np.uint8))
            out = peers.calque("verify", folder)[1]
            report.check(f"{kind} is refused by its name", f"the picture is {name}" in out, out)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
