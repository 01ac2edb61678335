def mylib__scale(x: Tensor, by: float) -> Tensor:
    return x * by

def mylib__shift(x: Tensor, by: float = 0.0) -> Tensor:
    return x + by
