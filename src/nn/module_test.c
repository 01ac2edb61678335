/* The tree of modules: names, state, modes, and errors. tests/peer/modules.py compares layers with
 * torch.nn. */
#include "models.h"

static void check_state(const cq_module *m, const char *const *want)
{
    cq_state_entry e;

    for (size_t i = 0; want[i]; i++) {
        CHECK_OK(cq_module_state_at(m, i, &e));
        CHECK_STR(want[i], e.name);
        CHECK(e.tensor == cq_module_find(m, want[i]));
        CHECK_INT(strstr(want[i], "running") || strstr(want[i], "tracked"), e.is_buffer);
        if (!want[i + 1])
            CHECK_INT(i + 1, cq_module_state_count(m));
    }
}

TEST(module, state_is_in_the_order_of_pytorch)
{
    cq_module *net = small_net_new();

    check_state(net, (const char *[]){ "features.0.weight", "features.0.bias", "features.1.weight",
                                       "features.1.bias", "features.1.running_mean",
                                       "features.1.running_var", "features.1.num_batches_tracked",
                                       "fc.weight", "fc.bias", NULL });
    check_state(cq_module_child(net, "features"),
                (const char *[]){ "0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean",
                                  "1.running_var", "1.num_batches_tracked", NULL });
    CHECK_STATUS(CQ_E_ARGUMENT, cq_module_state_at(net, 9, &(cq_state_entry){ 0 }));
    CHECK_STR("the module has 9 tensors, there is no 9", cq_last_error()->message);
    cq_module_free(net);
}

TEST(module, children_are_found_by_their_path)
{
    cq_module *net = small_net_new();

    CHECK(cq_module_child(net, "") == net);
    CHECK_STR("BatchNorm2d", cq_module_class_name(cq_module_child(net, "features.1")));
    CHECK_STR("1", cq_module_name(cq_module_child(net, "features.1")));
    CHECK_STR("", cq_module_name(net));
    CHECK(cq_module_child(net, "features.3") == NULL);
    CHECK(cq_module_child(net, "feature") == NULL);
    CHECK(cq_module_find(net, "features.0") == NULL);
    CHECK_INT(2, cq_module_n_children(net));
    CHECK(cq_module_child_at(net, 1) == cq_module_child(net, "fc"));
    CHECK(cq_module_child_at(net, 2) == NULL);
    cq_module_free(net);
}

TEST(module, values_that_do_not_fit_are_refused)
{
    cq_module *net = small_net_new();
    cq_tensor *t   = NULL;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F64, 1, (int64_t[]){ 4 }, NULL));
    CHECK_STATUS(CQ_E_TYPE, cq_module_set(net, "fc.bias", t));
    CHECK_STR("fc.bias", cq_last_error()->where);
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_module_set(net, "fc.nothing", t));
    cq_tensor_release(t);
    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F64, 1, (int64_t[]){ 5 }, (double[]){ 1, 2, 3, 4, 5 }));
    CHECK_OK(cq_module_set(net, "fc.bias", t)); /* another dtype is converted */
    CHECK(((float *)cq_tensor_data(cq_module_find(net, "fc.bias")))[4] == 5);
    cq_tensor_release(t);
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_module_load_npy(net, "/nowhere"));
    cq_module_free(net);
}

TEST(module, the_same_seed_gives_the_same_weights)
{
    cq_module *nets[3];

    for (int i = 0; i < 3; i++) {
        cq_manual_seed(i < 2 ? 7 : 8);
        nets[i] = small_net_new();
    }
    for (int i = 1; i < 3; i++) {
        const void *a = cq_tensor_data(cq_module_find(nets[0], "fc.weight"));
        const void *b = cq_tensor_data(cq_module_find(nets[i], "fc.weight"));

        CHECK_INT(i == 1, memcmp(a, b, 60 * sizeof(float)) == 0);
    }
    for (int i = 0; i < 3; i++)
        cq_module_free(nets[i]);
}

TEST(module, building_needs_no_check_in_between)
{
    const int64_t bad = -1;
    cq_module    *net = cq_sequential_of(
           3, (cq_module *[]){ cq_relu_new(), cq_linear_new(bad, 3, true), cq_tanh_new() });
    cq_tensor     *x = small_net_input();
    cq_onnx_model *m = NULL;

    CHECK(cq_module_status(net) != CQ_OK);
    CHECK(cq_module_export(&m, net, &x, 1, NULL) != CQ_OK);
    CHECK(m == NULL);
    cq_tensor_release(x);
    cq_module_free(net);
    CHECK(cq_module_status(NULL) != CQ_OK);
    cq_module_free(NULL);
}

TEST(module, running_twice_counts_batches_and_moves_statistics_in_training_only)
{
    cq_module *net = small_net_new();
    cq_tensor *x = small_net_input(), *y = NULL;
    int64_t   *tracked = cq_tensor_data(cq_module_find(net, "features.1.num_batches_tracked"));
    float     *mean    = cq_tensor_data(cq_module_find(net, "features.1.running_mean"));

    CHECK_OK(cq_module_run(net, &x, 1, &y, 1));
    cq_tensor_release(y);
    CHECK_INT(1, *tracked);
    CHECK(mean[0] != 0);
    cq_module_train(net, false);
    mean[0] = 0.5f;
    CHECK_OK(cq_module_run(net, &x, 1, &y, 1));
    cq_tensor_release(y);
    CHECK_INT(1, *tracked);
    CHECK(mean[0] == 0.5f);
    cq_tensor_release(x);
    cq_module_free(net);
}

TEST(module, exporting_changes_no_statistics)
{
    cq_export_options o    = options_of(17);
    cq_module        *net  = small_net_new();
    int64_t       *tracked = cq_tensor_data(cq_module_find(net, "features.1.num_batches_tracked"));
    float         *mean    = cq_tensor_data(cq_module_find(net, "features.1.running_mean"));
    cq_onnx_model *m       = NULL;

    o.training = CQ_TRAINING_TRAIN;
    CHECK_OK(export_net(&m, net, &o));
    CHECK_INT(0, *tracked);
    CHECK(mean[0] == 0);
    cq_onnx_model_free(m);
    cq_module_free(net);
}

TEST(module, a_module_of_one_input_takes_one)
{
    cq_module *net = cq_relu_new();
    cq_tensor *x = small_net_input(), *two[] = { x, x }, *y;

    CHECK_STATUS(CQ_E_ARGUMENT, cq_module_run(net, NULL, 0, &y, 1));
    CHECK_STR("the module takes one input, got 0", cq_last_error()->message);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_module_run(net, two, 2, &y, 1));
    CHECK_STR("the module takes one input, got 2", cq_last_error()->message);
    CHECK_OK(cq_module_run(net, &x, 1, &y, 1));
    cq_tensor_release(x);
    cq_tensor_release(y);
    cq_module_free(net);
}

RUN_TESTS(TEST_OF(module, state_is_in_the_order_of_pytorch),
          TEST_OF(module, children_are_found_by_their_path),
          TEST_OF(module, values_that_do_not_fit_are_refused),
          TEST_OF(module, the_same_seed_gives_the_same_weights),
          TEST_OF(module, building_needs_no_check_in_between),
          TEST_OF(module, running_twice_counts_batches_and_moves_statistics_in_training_only),
          TEST_OF(module, exporting_changes_no_statistics),
          TEST_OF(module, a_module_of_one_input_takes_one))
