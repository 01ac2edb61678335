"""textwrap."""


def dedent(text):
    lines = text.split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins) if margins else 0
    return "\n".join([line[margin:] if line.strip() else "" for line in lines])


def indent(text, prefix, predicate=None):
    return "".join([prefix + line if line.strip() else line for line in text.splitlines(True)])
