#include "info/info.h"

#include "test.h"

static const char program[] =
    "class Linear(Module):\n"
    "    __parameters__ = [\"weight\"]\n"
    "    weight : Tensor\n"
    "    def forward(self, x):\n"
    "        return x @ self.weight.t()\n"
    "class Net(Module):\n"
    "    a : Linear\n"
    "    b : Linear\n"
    "    def forward(self, x: Tensor, by: float, n: Optional[int]) -> Tensor:\n"
    "        return self.b(self.a(x)) * by\n"
    "    def many(self, xs: List[Tuple[Tensor, int]], flag: bool=True):\n"
    "        return xs[0][0]\n";

static cq_info *info_of_net(cq_script **s)
{
    static const int64_t sizes[] = { 4, 4 };
    static const float   data[16];
    cq_info             *info;
    cq_tensor           *w;

    CHECK_OK(cq_script_compile(s, program, "net.py"));
    CHECK_OK(cq_script_make_module(*s, "Net"));
    CHECK_OK(cq_tensor_new(&w, CQ_DTYPE_F32, 2, sizes, data));
    CHECK_OK(cq_script_set_tensor(*s, "a.weight", w));
    CHECK_OK(cq_script_set_tensor(*s, "b.weight", w));
    cq_tensor_release(w);
    CHECK_OK(cq_script_info(&info, *s));
    return info;
}

TEST(info, methods_have_their_signature_and_an_input_to_begin_with)
{
    cq_script *s;
    cq_info   *info = info_of_net(&s);

    CHECK_STR("methods", cq_info_table_name(info, 1));
    CHECK_STR("forward(x: Tensor, by: float, n: Optional[int]) -> Tensor",
              cq_info_cell_text(info, 1, 0, 1));
    CHECK_STR("--input 1x4 --input 1.0 --input none", cq_info_cell_text(info, 1, 0, 2));
    CHECK_STR("many(xs: List[Tuple[Tensor, int]], flag: bool=…)", cq_info_cell_text(info, 1, 1, 1));
    CHECK_STR("--input '[(1x4, 1)]'", cq_info_cell_text(info, 1, 1, 2));
    cq_info_free(info);
    cq_script_free(s);
}

/* The size of a feature map that a Linear after a flatten takes: (28 - 4) / 2 = 12. */
TEST(info, inputs_to_begin_with_are_tried)
{
    static const char text[] =
        "class Net(Module):\n"
        "    kernel : Tensor\n"
        "    weight : Tensor\n"
        "    def forward(self, x: Tensor) -> Tensor:\n"
        "        y = torch.max_pool2d(torch.conv2d(x, self.kernel), [2, 2])\n"
        "        return torch.flatten(y, 1) @ self.weight.t()\n"
        "    def never(self, x: Tensor) -> Tensor:\n"
        "        raise ValueError('no')\n";
    const struct {
        const char *name;
        size_t      rank;
        int64_t     sizes[4];
    } weights[] = { { "kernel", 4, { 2, 1, 5, 5 } }, { "weight", 2, { 10, 288 } } };
    cq_script *s;
    cq_info   *info;
    cq_tensor *w;

    CHECK_OK(cq_script_compile(&s, text, "net.py"));
    CHECK_OK(cq_script_make_module(s, "Net"));
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(cq_tensor_new(&w, CQ_DTYPE_F32, weights[i].rank, weights[i].sizes, NULL));
        CHECK_OK(cq_script_set_tensor(s, weights[i].name, w));
        cq_tensor_release(w);
    }
    CHECK_OK(cq_script_info(&info, s));
    CHECK_STR("--input 1x1x28x28", cq_info_cell_text(info, 1, 0, 2));
    CHECK_STR("", cq_info_cell_text(info, 1, 1, 2));
    CHECK_STR("never", cq_script_method_name(s, 1));
    CHECK(cq_script_method_name(s, 2) == NULL);
    cq_info_free(info);
    cq_script_free(s);
}

TEST(info, a_shared_weight_counts_once_and_names_its_first_owner)
{
    cq_script *s;
    cq_info   *info = info_of_net(&s);

    CHECK_STR("modules", cq_info_table_name(info, 2));
    CHECK_INT(3, cq_info_n_rows(info, 2));
    CHECK_INT(16, cq_info_cell_number(info, 2, 0, 2)); /* all of it */
    CHECK_INT(64, cq_info_cell_number(info, 2, 0, 3));
    CHECK_INT(CQ_INFO_BYTES, cq_info_cell_kind(info, 2, 0, 3));
    CHECK_STR("b", cq_info_cell_text(info, 2, 2, 0));
    CHECK_INT(0, cq_info_cell_number(info, 2, 2, 2));
    CHECK_STR("a.weight", cq_info_cell_text(info, 2, 2, 5));
    cq_info_free(info);
    cq_script_free(s);
}

TEST(info, missing_items_are_empty)
{
    cq_script *s;
    cq_info   *info = info_of_net(&s);

    CHECK(cq_info_table_name(info, 99) == NULL);
    CHECK_INT(0, cq_info_n_rows(info, 99));
    CHECK_STR("", cq_info_cell_text(info, 1, 99, 0));
    CHECK_STR("", cq_info_cell_text(info, 1, 0, 99));
    cq_info_free(info);
    cq_script_free(s);
}

TEST(info, parameters_have_names_and_types)
{
    char       name[16], type[16];
    cq_script *s;

    cq_info_free(info_of_net(&s));
    CHECK_INT(3, cq_script_n_params(s, NULL));
    CHECK_INT(2, cq_script_n_params(s, "many"));
    CHECK_INT(0, cq_script_n_params(s, "nothing"));
    CHECK_OK(cq_script_param(s, "forward", 1, name, type, sizeof name));
    CHECK_STR("by", name);
    CHECK_STR("float", type);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_script_param(s, "forward", 3, name, type, sizeof name));
    CHECK(!cq_script_has_tensor(s, "a"));
    cq_script_free(s);
}

TEST(info, files_are_recognised_by_content)
{
    static const struct {
        const char *model, *format;
    } all[] = { { CQ_TEST_DATA "/shared_lists.pt", "TorchScript archive" },
                { CQ_TEST_DATA "/state_dict.pt", "state dict" },
                { "alexnet", "built-in model" } };
    cq_info *info;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK_OK(cq_model_info(&info, all[i].model, NULL));
        CHECK_STR("format", cq_info_cell_text(info, 0, 0, 0));
        CHECK_STR(all[i].format, cq_info_cell_text(info, 0, 0, 1));
        cq_info_free(info);
    }
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_model_info(&info, "missing.onnx", NULL));
    CHECK(!info);
}

/* Whichever allocation fails: there is an error, or nothing is missing but an input that info
 * suggests, which is tried first and is a best effort. */
TEST(info, nothing_is_omitted_if_memory_runs_out)
{
    cq_script *s;
    cq_info   *whole    = info_of_net(&s), *info;
    size_t     n_failed = 0;

    for (long n = 1; n < 2000; n++) {
        cq_status status;

        cq_alloc_fail_at(n);
        status = cq_script_info(&info, s);
        cq_alloc_fail_at(0);
        n_failed += status != CQ_OK;
        if (status != CQ_OK)
            continue;
        CHECK_INT(cq_info_n_tables(whole), cq_info_n_tables(info));
        for (size_t t = 0; t < cq_info_n_tables(whole); t++)
            for (size_t row = 0; row < cq_info_n_rows(whole, t); row++)
                for (size_t c = 0; c < cq_info_n_columns(whole, t) && (t != 1 || c < 2); c++)
                    CHECK_STR(cq_info_cell_text(whole, t, row, c),
                              cq_info_cell_text(info, t, row, c));
        cq_info_free(info);
    }
    CHECK(n_failed > 20);
    cq_info_free(whole);
    cq_script_free(s);
}

RUN_TESTS(TEST_OF(info, nothing_is_omitted_if_memory_runs_out),
          TEST_OF(info, files_are_recognised_by_content),
          TEST_OF(info, methods_have_their_signature_and_an_input_to_begin_with),
          TEST_OF(info, inputs_to_begin_with_are_tried),
          TEST_OF(info, a_shared_weight_counts_once_and_names_its_first_owner),
          TEST_OF(info, missing_items_are_empty), TEST_OF(info, parameters_have_names_and_types))
