/* Symbolic functions of lib/onnx and of users. */
#include "export/symbolic/arith.h"
#include "export/symbolic/host.h"
#include "models.h"

TEST(symbolic_functions, of_the_library_have_names_and_calls_that_exist)
{
    CHECK_OK(cq_sym_check_library(false));
}

TEST(takes, every_element_wise_operator_is_found)
{
    static const char *const one[] = {
        "Abs",   "Acos",  "Acosh",       "Asin",      "Asinh",     "Atan", "Atanh",      "Ceil",
        "Celu",  "Clip",  "Cos",         "Cosh",      "Elu",       "Erf",  "Exp",        "Floor",
        "IsInf", "IsNaN", "HardSigmoid", "HardSwish", "LeakyRelu", "Log",  "Neg",        "Not",
        "Relu",  "Round", "Selu",        "Shrink",    "Sigmoid",   "Sign", "Reciprocal", "Sin",
        "Sinh",  "Sqrt",  "Softplus",    "Softsign",  "Tan",       "Tanh", "Trilu",
    };
    static const char *const two[] = {
        "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "Max",   "LessOrEqual",
        "Min", "Mod", "Mul", "Or",    "Pow",     "PRelu",          "Sub",  "Where", "Xor"
    };

    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        CHECK_INT(1, cq_sym_arity(one[i]));
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        CHECK_INT(2, cq_sym_arity(two[i]));
    CHECK_INT(0, cq_sym_arity("Aaa"));
    CHECK_INT(0, cq_sym_arity("Conv"));
    CHECK_INT(0, cq_sym_arity("Zzz"));
}

RUN_TESTS(TEST_OF(symbolic_functions, of_the_library_have_names_and_calls_that_exist),
          TEST_OF(takes, every_element_wise_operator_is_found))
