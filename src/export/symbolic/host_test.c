/* Symbolic functions of lib/onnx and of users. */
#include "export/symbolic/host.h"
#include "models.h"

TEST(symbolic_functions, of_the_library_have_names_and_calls_that_exist)
{
    CHECK_OK(cq_sym_check_library());
}

RUN_TESTS(TEST_OF(symbolic_functions, of_the_library_have_names_and_calls_that_exist))
