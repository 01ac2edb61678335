/* TorchScript: programs in archives (saved by torch.jit.save) and in source text. They are run
 * and exported without PyTorch.
 *
 * Threads: a program is used by one thread at a time, because running it may change its modules;
 * different programs, also of one file, may be used at once. */
#ifndef CALQUE_SCRIPT_H
#define CALQUE_SCRIPT_H

#include <calque/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_script cq_script;

/* An archive or a source file, told by its content. */
CQ_API cq_status cq_script_load(cq_script **out, const char *path);

/* The same under the limits of cq_script_set_limits, which reading the file has to keep to as well.
 * 0 bytes is the default, for reading: 512 MiB and 64 times the size of the file, or three quarters
 * of the memory that is available if that is less. */
CQ_API cq_status cq_script_load_limited(cq_script **out, const char *path, uint64_t max_steps,
                                        uint64_t max_bytes);

/* The same from memory, which is not copied: the bytes stay until release, if it is not NULL, is
 * called with user, which is when the script and all that shows parts of them are gone. Running the
 * program may change them. name is for messages. */
CQ_API cq_status cq_script_load_bytes(cq_script **out, const void *data, size_t size,
                                      const char *name, void (*release)(void *user), void *user);

/* Source text: functions and classes. name is for messages. */
CQ_API cq_status cq_script_compile(cq_script **out, const char *source, const char *name);
CQ_API void      cq_script_free(cq_script *script);

/* Makes a module of a class of the source text, with the modules that its fields are; __init__, if
 * there is one, is called without arguments. From then on methods are the module's, and functions
 * of the text can be called as before. Its weights are set by their path:
 *
 *     cq_script_compile(&s, "class Linear(Module):\n"
 *                           "    __parameters__ = [\"weight\"]\n"
 *                           "    weight : Tensor\n"
 *                           "    def forward(self, x):\n"
 *                           "        return x @ self.weight.t()\n"
 *                           "class Net(Module):\n"
 *                           "    fc : Linear\n"
 *                           "    scale : float\n"
 *                           "    def forward(self, x):\n"
 *                           "        return self.fc(x) * self.scale\n", "net.py");
 *     cq_script_make_module(s, "Net");
 *     cq_script_set_tensor(s, "fc.weight", w);
 *     cq_script_set_f64(s, "scale", 0.5);
 *
 * A module of an archive can be given other weights and numbers in the same way. Tensors are
 * retained; NULL is None. CQ_E_NOT_FOUND: the class declares no such attribute. */
CQ_API cq_status cq_script_make_module(cq_script *script, const char *class_name);
CQ_API cq_status cq_script_set_tensor(cq_script *script, const char *path, cq_tensor *t);
CQ_API cq_status cq_script_set_i64(cq_script *script, const char *path, int64_t value);
CQ_API cq_status cq_script_set_f64(cq_script *script, const char *path, double value);
CQ_API cq_status cq_script_set_bool(cq_script *script, const char *path, bool value);

/* What operators compute that calque does not know, such as those of extensions, as TorchScript
 * functions: mylib::scale is called mylib__scale.
 *
 *     cq_script_define(script, "def mylib__scale(x: Tensor, by: float = 1.0) -> Tensor:\n"
 *                              "    return x * by\n", "scale.py");
 *
 * An export shows what the function calls, or, if a symbolic is there for mylib::scale, what that
 * makes of it. Definitions go before calque's own operators, later ones before earlier ones.
 * Without one, an unknown operator cannot be run; an export takes its result to be like its first
 * tensor, with a warning, and its arguments are called x0, x1, …. name is for messages. */
CQ_API cq_status cq_script_define(cq_script *script, const char *source, const char *name);

/* Which of PyTorch's engines for quantized layers is followed: "fbgemm", "onednn", "x86" (all the
 * same here, and the default), or "qnnpack", which rounds the inputs of dynamically quantized
 * layers to 8 bits even where the file says 7 (reduce_range). Rounding half-way numbers aside, and
 * sums that overflow 16 bits on processors without VNNI, they agree in everything else. */
CQ_API cq_status cq_script_set_quantized_engine(cq_script *script, const char *name);

/* How many steps (statements, calls, rounds of loops) a call may take, and how many bytes of memory
 * it may hold, before it is refused: a file can come from anywhere. What takes longer counts for
 * more: 64 items of a list or bytes of a text that are iterated are a step, and so are 64 elements
 * of a tensor that are read or written, or 2048 products of float32 in a convolution or matrix
 * product (of sorting and the like, fewer); an operator that is exported is 128. What an archive
 * was read into counts as memory. 0 is the default: 50 million steps, and for each byte of the file
 * 3, or 10 for those beyond 10 MiB; and 16 GiB or three quarters of the machine's memory, whichever
 * is less. */
CQ_API void cq_script_set_limits(cq_script *script, uint64_t max_steps, uint64_t max_bytes);

/* The example inputs that an archive holds, as traces by PyTorch 2.1 and newer do: how many tensors
 * forward was traced with (0: the archive does not say, or they were more than plain tensors), and
 * what input i looked like. sizes has room for CQ_MAX_RANK. */
CQ_API size_t    cq_script_n_example_inputs(const cq_script *script);
CQ_API cq_status cq_script_example_input(const cq_script *script, size_t i, cq_dtype *dtype,
                                         size_t *rank, int64_t *sizes);

/* The methods of an archive's module, without Python's own such as __init__, then the functions of
 * source text: the name of the i-th; NULL past the end. */
CQ_API const char *cq_script_method_name(const cq_script *script, size_t i);

/* The parameters of a function or method (NULL: as for cq_script_run), without self: how many there
 * are, 0 if there is no such method, and parameter i: its name, and its type as the source has it,
 * "" for none, which means Tensor. Both are cut to size bytes. */
CQ_API size_t    cq_script_n_params(cq_script *script, const char *method);
CQ_API cq_status cq_script_param(cq_script *script, const char *method, size_t i, char *name,
                                 char *type, size_t size);

/* Whether the module of the script has a tensor of that name, which is its name in a graph. */
CQ_API bool cq_script_has_tensor(cq_script *script, const char *name);

/* Arguments of a call: a tree of tensors, numbers, texts, lists, tuples, dicts and None. The
 * tensors and numbers in it, in order, are the inputs of an exported graph. */
typedef struct cq_args cq_args;

CQ_API cq_status cq_args_new(cq_args **out);
CQ_API void      cq_args_free(cq_args *args);
CQ_API cq_status cq_args_add_tensor(cq_args *args, cq_tensor *t); /* retains it */
CQ_API cq_status cq_args_add_i64(cq_args *args, int64_t value);
CQ_API cq_status cq_args_add_f64(cq_args *args, double value);

/* {"args": […], "kwargs": {…}} with {"tensor": i}, {"scalar": i}, {"str": "…"}, {"tuple": […]},
 * {"list": […]}, {"dict": [[key, value], …]} and null; i counts tensors. */
CQ_API cq_status cq_args_from_json(cq_args **out, const char *json, cq_tensor *const *tensors,
                                   size_t n_tensors);

/* Makes the argument for a parameter of the method a part of the program: an exported graph has no
 * input for it, and what it decides is decided. value is JSON (16000, 2.5, true, null, "hann", [1,
 * 2]) or any other text, which is itself. It takes the place of an argument that is there already,
 * or is put between the others. */
CQ_API cq_status cq_args_set_constant(cq_args *args, cq_script *script, const char *method,
                                      const char *name, const char *value);

/* How many inputs an exported graph has for these arguments. */
CQ_API size_t cq_args_n_inputs(const cq_args *args);

/* What these inputs are called when they are given to parameters of these names, in order: x, and
 * in containers pair_0, options_scale; input_3 where there is no name, or another input has it.
 * name is borrowed during the call. */
typedef void (*cq_input_name_fn)(void *user, const char *name);
CQ_API cq_status cq_args_each_name(const cq_args *args, const char *const *params, size_t n_params,
                                   cq_input_name_fn each, void *user);

/* These inputs in order, the first max of them: the tensors, and the numbers as tensors. They are
 * the caller's to release. */
CQ_API cq_status cq_args_inputs(const cq_args *args, cq_tensor **tensors, size_t max);

enum {
    CQ_SCRIPT_TRACE = 1 << 0 /* the example decides every branch and loop */
};

/* Calls a function, or a method of the archive's module; NULL is `forward`, or the only
 * function there is. Results are flattened: tuples, lists and dicts in order, None left out. */
CQ_API cq_status cq_script_run(cq_script *script, const char *method, const cq_args *args,
                               cq_tensor **outputs, size_t max_outputs, size_t *n_outputs);

/* The same in a mode, with the outputs that marks of the options name (<calque/annotate.h>) after
 * the others. */
CQ_API cq_status cq_script_run_as(cq_script *script, const char *method, const cq_args *args,
                                  const cq_run_options *options, cq_tensor **outputs,
                                  size_t max_outputs, size_t *n_outputs);

/* The same inside of a forward: on the data of its tensors, or into the graph that is being
 * captured, where branches and loops of the program that depend on data stay what they are. As with
 * any call in a forward, results are the context's and so is the first failure. */
CQ_API cq_tensor *cq_script_call(cq_ctx *cx, cq_script *script, const char *method,
                                 cq_tensor *const *inputs, size_t n_inputs);
CQ_API void cq_script_call_n(cq_ctx *cx, cq_script *script, const char *method, const cq_args *args,
                             cq_tensor **outputs, size_t n_outputs);

/* Captures the call and exports it. flags are CQ_SCRIPT_*. Inputs that options have no names for
 * are called after the parameters: x, and in containers pair_0, options_scale. */
CQ_API cq_status cq_script_export(cq_onnx_model **out, cq_script *script, const char *method,
                                  const cq_args *args, uint32_t flags,
                                  const cq_export_options *options);

#ifdef __cplusplus
}
#endif

#endif
