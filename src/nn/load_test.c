/* Loading tests/data/state_dict.pt, which PyTorch 1.13 wrote: the state of
 * Sequential(Linear(2, 3)), weights 0 to 5, biases 7 to 9. */
#include "test.h"

#include <calque/layers.h>

static const cq_class net_class = { CQ_SIZED(cq_class), .name = "Net" };
static const char     path[]    = CQ_TEST_DATA "/state_dict.pt";

TEST(load, names_and_numbers_arrive)
{
    cq_module *net = cq_module_new(&net_class);

    cq_module_add(net, "0", cq_linear_new(2, 3, true));
    CHECK_OK(cq_module_load_state_dict(net, path));
    CHECK(cq_tensor_get_f64(cq_module_find(net, "0.weight"), 5) == 5);
    CHECK(cq_tensor_get_f64(cq_module_find(net, "0.bias"), 0) == 7);
    cq_module_free(net);
}

TEST(load, all_mismatches_are_reported_at_once)
{
    cq_module *net = cq_module_new(&net_class);
    double     before;

    cq_module_add(net, "0", cq_linear_new(4, 3, false));
    cq_module_add(net, "1", cq_linear_new(2, 3, true));
    before = cq_tensor_get_f64(cq_module_find(net, "0.weight"), 0);
    CHECK_STATUS(CQ_E_TYPE, cq_module_load_state_dict(net, path));
    CHECK_STR("the weights do not fit Net:\n"
              "  Missing key(s) in state_dict: \"1.weight\", \"1.bias\".\n"
              "  Unexpected key(s) in state_dict: \"0.bias\".\n"
              "  size mismatch for 0.weight: copying a param with shape torch.Size([3, 2]) from "
              "checkpoint, the shape in current model is torch.Size([3, 4]).",
              cq_last_error()->message);
    CHECK_STR(path, cq_last_error()->where);
    CHECK(cq_tensor_get_f64(cq_module_find(net, "0.weight"), 0) == before);
    cq_module_free(net);
}

TEST(load, a_missing_file_is_an_error)
{
    cq_module *net = cq_module_new(&net_class);

    CHECK_STATUS(CQ_E_NOT_FOUND, cq_module_load_state_dict(net, CQ_TEST_DATA "/none.pt"));
    cq_module_free(net);
}

RUN_TESTS(TEST_OF(load, names_and_numbers_arrive),
          TEST_OF(load, all_mismatches_are_reported_at_once),
          TEST_OF(load, a_missing_file_is_an_error))
