"""io: buffers that exports and torch.save write to."""


class BytesIO:
    """A buffer of what was written: tensors of uint8 instead of bytes."""

    def __init__(self, initial=None):
        self._parts = [] if initial is None else [initial]

    def write(self, data):
        self._parts.append(data)
        return len(data)

    def getvalue(self):
        if len(self._parts) == 1:
            return self._parts[0]
        import torch
        return torch.cat(self._parts) if self._parts else torch.zeros(0, dtype=torch.uint8)

    def getbuffer(self):
        return self.getvalue()

    def read(self):
        return self.getvalue()

    def seek(self, offset, whence=0):
        return offset

    def tell(self):
        return sum(len(part) for part in self._parts)

    def flush(self):
        return None

    def close(self):
        return None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


class StringIO:
    def __init__(self, initial=""):
        self._text = initial

    def write(self, text):
        self._text += text
        return len(text)

    def getvalue(self):
        return self._text
