def mylib__scael(x, y: float):
    return x * y
def mylib__shift(x, y: float):
    return x + y
