/* Random numbers: drawn anew whenever the model runs. */
#include "export/symbolic/symbolic.h"

/* clang-format off */
#define DRAWN "'float64' if result_dtype() == 'float64' else 'float32'"
#define NORMAL \
    "to = result_sizes(); d = " DRAWN ";" \
    "RandomNormal<mean = 0, scale = 1, dtype = d, shape = to>()" \
    " if len(to) > 0 and all_fixed(to) else" \
    " RandomNormalLike<mean = 0, scale = 1, dtype = d>(sizes_shown(to, d))"

/* The positions of the n largest along the last axis. */
#define LARGEST(x, n) "x = " x "; y, at = TopK<axis = -1, largest = True>(x, [" n "]);"

/* Without replacement: of all weights, raised by what the Gumbel distribution gives, the
 * largest ones. With it ONNX has an operator, for rows of logarithms. */
#define MULTINOMIAL \
    "p = cast(self, 'float32'); sure = Log(p);" \
    "noise = Log(-Log(uniform(1e-20, 1, sizes(p), 'float32')));" \
    LARGEST("sure - noise", "num_samples") \
    "rows = Unsqueeze(sure, [0]) if rank(p) == 1 else sure;" \
    "drawn = Multinomial<dtype = 'int64', sample_size = num_samples>(rows);" \
    "at if not replacement else Squeeze(drawn, [0]) if rank(p) == 1 else drawn"
/* clang-format on */

const cq_symbolic cq_symbolics_random[] = {
    { "aten::rand", 7, .as = "uniform(0, 1, result_sizes(), " DRAWN ")" },
    { "aten::randn", 7, .as = NORMAL },
    /* Doubles hold every integer that may be asked for, up to 2 ** 53. */
    { "aten::randint", 7, .as = "Floor(uniform(given(low, 0), high, result_sizes(), 'float64'))" },
    { "aten::randperm", 7,
      .as = LARGEST("uniform(0, 1, result_sizes(), 'float32')", "result_sizes()[0]") "at" },
    { "aten::multinomial", 7, .as = MULTINOMIAL },
    { 0 },
};
