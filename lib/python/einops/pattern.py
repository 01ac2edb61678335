"""Patterns of einops: 'b (h w) c -> b c h w'.

A pattern becomes: a reshape that splits the axes of the left side, a reduction or an expansion, a
permutation, and a reshape that joins the axes of the right side.
"""


class EinopsError(RuntimeError):
    pass


def _side(text, tag):
    """A list of groups; each is a list of names. '1' is a group without names; '...' is a name,
    and '(...)' inside of brackets.

    A number is an axis of that size without a name: it becomes one that occurs once, '2@left0'.
    """
    groups, current, n = [], None, 0
    for word in text.replace("(", " ( ").replace(")", " ) ").replace("…", "...").split():
        if word == "(":
            if current is not None:
                raise EinopsError("brackets are nested in the pattern")
            current = []
        elif word == ")":
            if current is None:
                raise EinopsError("brackets are not balanced in the pattern")
            groups.append(["(...)" if name == "..." else name for name in current])
            current = None
        elif word == "1":
            if current is None:
                groups.append([])
        elif word.isdigit():
            word = f"{word}@{tag}{n}"
            n += 1
            if current is None:
                groups.append([word])
            else:
                current.append(word)
        elif current is not None:
            current.append(word)
        else:
            groups.append([word])
    if current is not None:
        raise EinopsError("brackets are not balanced in the pattern")
    return groups


def _names(groups):
    return [name for group in groups for name in group]


def _expand_ellipsis(groups, n):
    """'...' becomes n new names."""
    out = []
    for group in groups:
        if group == ["..."]:
            out += [[f"...{i}"] for i in range(n)]
        elif "(...)" in group:
            i = group.index("(...)")
            out.append(group[:i] + [f"...{k}" for k in range(n)] + group[i + 1:])
        else:
            out.append(group)
    return out


def _sizes_of_axes(tensor, left, lengths):
    """The size of each name of the left side. At most one of a group is computed."""
    sizes = {}
    for i, group in enumerate(left):
        total = tensor.size(i)
        known, missing = 1, None
        for name in group:
            if name in lengths:
                sizes[name] = lengths[name]
                known = known * lengths[name]
            elif missing is None:
                missing = name
            else:
                raise EinopsError(f"the sizes of '{missing}' and '{name}' are not given")
        if missing is not None:
            if len(group) == 1:
                sizes[missing] = total
            else:
                sizes[missing] = total // known
        elif isinstance(total, int) and total != known:
            raise EinopsError(f"axis {i} has size {total}, but the pattern has {known}")
    return sizes


def _product(values):
    result = 1
    for value in values:
        result = result * value
    return result


def _reduced(x, axes, how):
    if how == "sum":
        return x.sum(axes)
    if how == "mean":
        return x.mean(axes)
    if how == "max":
        return x.amax(axes)
    if how == "min":
        return x.amin(axes)
    if how == "prod":
        for axis in sorted(axes, reverse=True):
            x = x.prod(axis)
        return x
    if how == "any":
        return x.any(axes[0]) if len(axes) == 1 else _reduced(x.any(axes[-1]), axes[:-1], how)
    if how == "all":
        return x.all(axes[0]) if len(axes) == 1 else _reduced(x.all(axes[-1]), axes[:-1], how)
    if callable(how):
        return how(x, tuple(axes))
    raise EinopsError(f"unknown reduction '{how}'")


def _view(x, groups, sizes):
    return x.reshape([_product([sizes[name] for name in group]) for group in groups])


def apply(tensor, pattern, how, lengths):
    if pattern.count("->") != 1:
        raise EinopsError(f"expected one '->' in the pattern '{pattern}'")
    text = pattern.split("->")
    left, right = _side(text[0], "left"), _side(text[1], "right")
    lengths = dict(lengths)
    for name in _names(left) + _names(right):
        if "@" in name:
            lengths[name] = int(name.split("@")[0])
    n = tensor.dim() - len([group for group in left if group != ["..."]])
    if "..." in _names(left):
        left, right = _expand_ellipsis(left, n), _expand_ellipsis(right, n)
    if len(left) != tensor.dim():
        raise EinopsError(f"the pattern '{pattern}' has {len(left)} axes, but the tensor has "
                          f"{tensor.dim()}")
    sizes = _sizes_of_axes(tensor, left, lengths)
    before, after = _names(left), _names(right)
    new = [name for name in after if name not in before]
    gone = [name for name in before if name not in after]
    if how == "rearrange" and (new or gone):
        raise EinopsError(f"names differ on the two sides of '{pattern}': {new + gone}")
    if how == "repeat" and gone or how != "repeat" and new:
        raise EinopsError(f"unexpected names in the pattern '{pattern}': {new or gone}")
    x = _view(tensor, [[name] for name in before], sizes) if _is_split(left) else tensor
    if gone:
        x = _reduced(x, [before.index(name) for name in gone], how)
        before = [name for name in before if name not in gone]
    order = [before.index(name) for name in after if name in before]
    if order != list(range(len(order))):
        x = x.permute(order)
    if new:
        shape = []
        for i, name in enumerate(after):
            if name in new:
                sizes[name] = _new_size(name, lengths)
                x = x.unsqueeze(i)
            shape.append(sizes[name])
        x = x.expand(shape)
    return _view(x, right, sizes) if _is_split(right) else x


def _new_size(name, lengths):
    if name in lengths:
        return lengths[name]
    raise EinopsError(f"the size of the new axis '{name}' is not given")


def _is_split(groups):
    return any(len(group) != 1 for group in groups)


def parse_shape_names(x, pattern):
    names = pattern.split()
    if len(names) != x.dim():
        raise EinopsError(f"the pattern '{pattern}' has {len(names)} axes, but the tensor has "
                          f"{x.dim()}")
    return {name: x.size(i) for i, name in enumerate(names) if name != "_"}
