"""Programs with loops of data-dependent length, and exits from them. See language_models.py."""
import torch

from language_models import ROWS, count, down, matrix, numbers, program, up

# ---- loops --------------------------------------------------------------------------------


@program(count(3), count(0))
def carried_tensor(x, n: int):
    for _ in range(n):
        x = torch.tanh(x) * 2
    return x


@program(count(3), count(0))
def carried_numbers(x, n: int):
    a, b, done = 0, 1.5, False
    for i in range(n):
        a += i
        b = b * 2 + a
        done = a > 2
    return x + a, x * b, torch.tensor(done)


@program(count(2), count(4))
def carried_growing(x, n: int):
    for _ in range(n):
        x = torch.cat([x, x], 1)
    return x, x.size(1)


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def while_on_data(x):
    rounds = 0
    while x.sum() < 100:
        x = x * 2
        rounds += 1
    return x, rounds


@program(count(7), count(100), count(1))
def while_on_int(x, n: int):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return x + steps


@program(count(3), count(5))
def loop_in_loop(x, n: int):
    total = torch.zeros_like(x)
    for i in range(n):
        for j in range(i):
            total = total + x * j
        total = total / 2
    return total


@program(count(4), count(6))
def loop_with_steps(x, n: int):
    total = torch.zeros_like(x)
    for i in range(1, n, 2):
        total = total + x * i
    for i in range(n, 0, -2):
        total = total * 0.5 + i
    return total


@program(count(4), count(6))
def loop_with_branch(x, n: int):
    for i in range(n):
        if i < 2:
            x = x + 1
        elif i == 3:
            x = x * 3
        else:
            x = x - 1
    return x


@program(count(4), count(6))
def loop_and_pair(x, n: int):
    state = (x, 0)
    for i in range(n):
        state = (state[0] + i, state[1] + 2)
    return state[0] * state[1]


@program(matrix(3), matrix(6), axes=ROWS)
def loop_over_tensor(x):
    total = torch.zeros(4)
    for row in x:
        total = total.relu() + row
    return total


@program(matrix(3), matrix(6), axes=ROWS)
def enumerate_tensor(x):
    total = torch.zeros(4)
    for i, row in enumerate(x):
        total = total + row * i
    return total


@program(matrix(3), matrix(6), axes=ROWS)
def write_rows_in_loop(x):
    y = torch.zeros_like(x)
    for i in range(x.size(0)):
        y[i] = x[i] * i
    return y


@program(matrix(3), matrix(6), axes=ROWS)
def write_elements_in_loop(x):
    y = x.clone()
    for i in range(x.size(0)):
        for j in range(2):
            y[i, j] += i * 10 + j
    return y


@program(matrix(3), matrix(6), axes=ROWS)
def running_sum(x):
    for i in range(1, x.size(0)):
        x[i] += x[i - 1]
    return x


@program(count(3), count(5))
def in_place_in_loop(x, n: int):
    y = x.clone()
    for i in range(n):
        y.add_(i)
        y[0].mul_(2)
    return y


@program(count(3), refused="may share its memory")
def loop_with_view(x, n: int):
    first = x[0]
    for i in range(n):
        first += 1
        x = x * 2
        first = x[0]
    return x, first


@program(count(3), count(8))
def fibonacci(x, n: int):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return x * a


@program(numbers(4), numbers(9))
def range_of_tensor(n):
    total = torch.zeros(1)
    for i in range(int(n[0])):
        total = total + i
    return total


@program(matrix(4), matrix(6), axes=ROWS)
def slices_in_loop(x):
    total = torch.zeros(4)
    for i in range(x.size(0)):
        total = total + x[:i].sum(0)
    return total


@program(count(5), count(2))
def loop_of_known_length(x, n: int):
    for i in range(3):
        if n > i:
            x = x * 2 + i
    return x


# ---- leaving loops ------------------------------------------------------------------------


@program(count(3), count(8))
def break_in_range(x, n: int):
    for i in range(n):
        if i == 5:
            break
        x = x + i
    return x


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def break_in_known_range(x):
    for i in range(6):
        if x.sum() > 50:
            break
        x = x * 2 + i
    return x


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def break_forever(x):
    rounds = 0
    while True:
        x = x * 2
        rounds += 1
        if x.sum() > 100:
            break
    return x + rounds


@program(count(3), count(8))
def continue_in_range(x, n: int):
    for i in range(n):
        if i % 3 == 1:
            continue
        x = x + i
    return x


@program(numbers(1.0, 2.0), numbers(-30.0, 5.0))
def continue_in_known_range(x):
    for i in range(4):
        x = x + 1
        if x.sum() < 0:
            continue
        x = x * 2
    return x


@program(count(3), count(8))
def break_and_continue(x, n: int):
    total = 0
    for i in range(n):
        if i == 1:
            continue
        if i > 5:
            break
        total += i
    return x + total


@program(count(3), count(8))
def break_inner(x, n: int):
    total = 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            total += j
        total += 100
    return x + total


@program(count(3), count(8))
def return_in_loop(x, n: int):
    for i in range(n):
        if i == 6:
            return x * 100
        x = x + i
    return x


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def return_in_known_loop(x):
    for i in range(4):
        if x.sum() > 50:
            return x - i
        x = x * 2
    return x * 0


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def return_from_depth(x):
    if x.sum() < 200:
        if x.sum() > 20:
            return x * 2
        x = x + 1
    x = x + 5
    if x.sum() > 250:
        return x - 1
    return x


@program(up, down)
def early_returns(x):
    if x.sum() > 1:
        return x + 1
    y = x * 2
    if y.sum() < -1:
        return y
    return y - 3


@program(up, down)
def return_of_one_side(x):
    y = helper_return(x, 2)
    return y + helper_return(x * 3, 0)


def helper_return(x, n: int):
    if n == 0:
        return x
    if x.sum() > 0:
        return x + n
    return x - n


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def break_in_while(x):
    i = 0
    while i < 10:
        i += 1
        if x.sum() > 100:
            break
        if i == 2:
            continue
        x = x * 2
    return x + i
