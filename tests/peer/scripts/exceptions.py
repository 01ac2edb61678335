"""Exceptions."""


class Mine(ValueError):
    def __init__(self, code, text=""):
        super().__init__(f"{code}: {text}")
        self.code = code


def f(n):
    try:
        print("try", n)
        if n == 0:
            return "returned"
        if n == 1:
            raise Mine(7, "seven")
        if n == 2:
            {}["k"]
        if n == 3:
            [][1]
        if n == 4:
            1 / 0
        if n == 5:
            int("x")
        if n == 6:
            None.x
        if n == 7:
            undefined
        if n == 8:
            "a" + 1
        if n == 9:
            raise KeyError
    except Mine as error:
        print("mine", error, error.code, error.args, isinstance(error, Exception))
    except (KeyError, IndexError) as error:
        print(type(error).__name__)
    except ZeroDivisionError:
        print("zero")
    except (ValueError, TypeError, AttributeError, NameError) as error:
        print(type(error).__name__)
    else:
        print("else")
    finally:
        print("finally")
    return "end"


for i in range(11):
    print(f(i))
try:
    try:
        raise ValueError("a")
    except ValueError as error:
        raise RuntimeError("b") from error
except RuntimeError as error:
    print(error, repr(error.__cause__))
try:
    try:
        raise ValueError("a")
    finally:
        print("cleanup")
except ValueError:
    print("outer")


def g():
    for i in range(3):
        try:
            if i == 1:
                continue
            print(i)
        finally:
            print("f", i)
    try:
        return 1
    finally:
        print("last")


print(g())
try:
    try:
        raise KeyError("x")
    except KeyError:
        raise
except LookupError as e:
    print("again", e)
try:
    raise NotImplementedError
except NotImplementedError as e:
    print(repr(e), str(e) == "")
for i in range(5):
    if i == 3:
        break
else:
    print("no break")
while i < 5:
    i += 1
else:
    print("done", i)
try:
    raise Exception("a", 1)
except Exception as e:
    print(e, e.args)
import contextlib
with contextlib.suppress(ValueError):
    raise ValueError
