#!/usr/bin/env python3
"""Packs the inputs of a fuzz target into fuzz/corpus/NAME.tar.xz, which the tests unpack.

    fuzz/pack.py NAME DIR…      adds the files of the folders; contents that the archive has are skipped

Members are sorted and have no times, so that equal inputs give equal archives.
"""
import hashlib
import io
import pathlib
import sys
import tarfile

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"


def read_archive(path):
    if not path.exists():
        return {}
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}


def digest(data):
    return hashlib.sha1(data).hexdigest()


def write_archive(path, inputs):
    with tarfile.open(path, "w:xz", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(inputs.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    name, *folders = arguments
    path = CORPUS / f"{name}.tar.xz"
    inputs = read_archive(path)
    known = {digest(data) for data in inputs.values()}
    for folder in folders:
        for file in sorted(pathlib.Path(folder).iterdir()):
            data = file.read_bytes()
            if digest(data) not in known:
                known.add(digest(data))
                inputs[file.name if file.name not in inputs else digest(data)] = data
    CORPUS.mkdir(exist_ok=True)
    write_archive(path, inputs)
    print(f"{path}: {len(inputs)} inputs, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
