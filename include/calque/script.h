/* TorchScript: programs in archives (saved by torch.jit.save) and in source text. They are run
 * and exported without PyTorch.
 *
 * Threads: only one thread may use a program at a time, because a run may change its modules.
 * Different programs, also of the same file, may be used concurrently. */
#ifndef CALQUE_SCRIPT_H
#define CALQUE_SCRIPT_H

#include <calque/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_script cq_script;

/* An archive or a source file, recognised by its content. */
CQ_API cq_status cq_script_load(cq_script **out, const char *path);

/* The same with the limits of cq_script_set_limits, which also apply to reading the file. The
 * default for reading, 0, is 512 MiB plus 64 times the size of the file, or three quarters of the
 * available memory, whichever is less. */
CQ_API cq_status cq_script_load_limited(cq_script **out, const char *path, uint64_t max_steps,
                                        uint64_t max_bytes);

/* The same from memory, which is not copied. release, if not NULL, is called with user when the
 * script and all views of the bytes have been freed. Running the program may change the bytes. name
 * is for messages. */
CQ_API cq_status cq_script_load_bytes(cq_script **out, const void *data, size_t size,
                                      const char *name, void (*release)(void *user), void *user);

/* Source text: functions and classes. name is for messages. */
CQ_API cq_status cq_script_compile(cq_script **out, const char *source, const char *name);
CQ_API void      cq_script_free(cq_script *script);

/* Makes a module of a class of the source text, including the modules of its fields; __init__, if
 * defined, is called without arguments. From then on method names refer to the module; functions of
 * the text can still be called. Weights are set by path:
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
 * Weights and numbers of an archive's module can be replaced in the same way. Tensors are retained;
 * NULL is None. CQ_E_NOT_FOUND: the class declares no such attribute. */
CQ_API cq_status cq_script_make_module(cq_script *script, const char *class_name);
CQ_API cq_status cq_script_set_tensor(cq_script *script, const char *path, cq_tensor *t);
CQ_API cq_status cq_script_set_i64(cq_script *script, const char *path, int64_t value);
CQ_API cq_status cq_script_set_f64(cq_script *script, const char *path, double value);
CQ_API cq_status cq_script_set_bool(cq_script *script, const char *path, bool value);

/* Python source is text that imports something. cq_script_load reads it, and cq_script_is_python
 * returns true for it. cq_script_add_path adds a folder in which imported modules are found,
 * after those beside the file and in calque's library. cq_script_make evaluates the file and then
 * entry, an expression such as "Net(num_classes=10)"; NULL is the only module class or function of
 * the file. cq_script_run and cq_script_export then call the value, a module or a function. */
CQ_API bool      cq_script_is_python(const cq_script *script);
CQ_API cq_status cq_script_add_path(cq_script *script, const char *folder);
CQ_API cq_status cq_script_make(cq_script *script, const char *entry);

/* A file of torch.save that holds a pickled module, alone or in a checkpoint, is loaded like Python
 * source: cq_script_make builds the module. Its classes are those of torch.nn, and those that are
 * found in the folder of the file, in folders of cq_script_add_path, and in the source files of
 * cq_script_add_code. entry is the key of one of several modules; NULL is the usual one. */
CQ_API cq_status cq_script_add_code(cq_script *script, const char *path);

/* Raises the memory limit for making and calling a model by the needs of this many bytes of
 * weights: the initial weights, which a file of that size then replaces, and a copy. It has no
 * effect if
 * cq_script_set_limits sets a limit. */
CQ_API void cq_script_expect_weights(cq_script *script, uint64_t bytes);

/* Runs the file as a script: __name__ is "__main__", sys.argv is the file and the arguments, and
 * print writes to standard output. torch.onnx.export, torch.save and the functions of
 * pytorch_pfn_extras.onnx write files; torch.load and torch.jit.load read them. All of these are
 * below the working folder, or among the arguments. */
CQ_API cq_status cq_script_load_main(cq_script **out, const char *path, uint64_t max_steps,
                                     uint64_t max_bytes); /* Python even without an import */
CQ_API cq_status cq_script_run_main(cq_script *script, const char *const *arguments,
                                    size_t n_arguments);

/* Replaces the weights of the module by those of a file of the same architecture, by name, as
 * cq_module_load_weights does. */
CQ_API cq_status cq_script_load_weights(cq_script *script, cq_weights *weights, uint32_t flags);

/* Defines operators that calque does not know, such as those of extensions, by TorchScript
 * functions. The function for mylib::scale is called mylib__scale.
 *
 *     cq_script_define(script, "def mylib__scale(x: Tensor, by: float = 1.0) -> Tensor:\n"
 *                              "    return x * by\n", "scale.py");
 *
 * An export contains the operators that the function calls, or the result of the symbolic function
 * for mylib::scale if there is one. Definitions take precedence over calque's operators, later ones
 * over earlier ones. Without a definition an unknown operator cannot be run; an export assumes,
 * with a warning, that its result has the type of its first tensor, and calls its arguments x0, x1,
 * …. name is for messages. */
CQ_API cq_status cq_script_define(cq_script *script, const char *source, const char *name);

/* Selects which of PyTorch's engines for quantized layers to reproduce: "fbgemm", "onednn" or "x86"
 * (identical here, the default), or "qnnpack", which quantizes the inputs of dynamically quantized
 * layers to 8 bits even if the file asks for 7 (reduce_range). The engines otherwise differ only in
 * rounding halves and in sums that overflow 16 bits on processors without VNNI. */
CQ_API cq_status cq_script_set_quantized_engine(cq_script *script, const char *name);

/* Limits the steps (statements, calls, loop iterations) and the memory of a call, because files are
 * untrusted. A step also pays for 64 list items or bytes of text, 64 tensor elements read or
 * written, or 2048 float32 multiplications of a convolution or matrix product (fewer for sorting
 * and similar operators); an exported operator costs 128 steps. The values of an archive count as
 * memory. The default, 0, is 50 million steps plus 3 for each byte of the file (10 for bytes beyond
 * 10 MiB), and 16 GiB or three quarters of the machine's memory, whichever is less. */
CQ_API void cq_script_set_limits(cq_script *script, uint64_t max_steps, uint64_t max_bytes);

/* The example inputs of an archive, which traces of PyTorch 2.1 and newer contain: the number of
 * tensors that forward was traced with (0: unknown, or not plain tensors), and the type of input i.
 * sizes has room for CQ_MAX_RANK. */
CQ_API size_t    cq_script_n_example_inputs(const cq_script *script);
CQ_API cq_status cq_script_example_input(const cq_script *script, size_t i, cq_dtype *dtype,
                                         size_t *rank, int64_t *sizes);

/* The name of the i-th method of an archive's module, without special methods such as __init__, or
 * function of source text; NULL past the end. */
CQ_API const char *cq_script_method_name(const cq_script *script, size_t i);

/* The parameters of a function or method (NULL: as for cq_script_run), without self: their number,
 * 0 if the method does not exist, and the name and annotation of parameter i; the annotation ""
 * means Tensor. Both strings are cut to size bytes. */
CQ_API size_t    cq_script_n_params(cq_script *script, const char *method);
CQ_API cq_status cq_script_param(cq_script *script, const char *method, size_t i, char *name,
                                 char *type, size_t size);

/* Whether the script's module has a tensor of that name. The graph uses the same names. */
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

/* Makes the argument for a parameter of the method a constant of the program: an exported graph has
 * no input for it, and branches on it are decided. value is JSON (16000, 2.5, true, null, "hann",
 * [1, 2]); any other text is a string. It replaces an existing argument, or is inserted between the
 * others. */
CQ_API cq_status cq_args_set_constant(cq_args *args, cq_script *script, const char *method,
                                      const char *name, const char *value);

/* The number of inputs that an exported graph has for these arguments. */
CQ_API size_t cq_args_n_inputs(const cq_args *args);

/* Calls each with the names of these inputs for parameters of the given names, in order: x, or
 * pair_0 and options_scale inside of containers; input_3 for an input without a unique name. name
 * is borrowed during the call. */
typedef void (*cq_input_name_fn)(void *user, const char *name);
CQ_API cq_status cq_args_each_name(const cq_args *args, const char *const *params, size_t n_params,
                                   cq_input_name_fn each, void *user);

/* The first max of these inputs in order; numbers become tensors. The caller releases them. */
CQ_API cq_status cq_args_inputs(const cq_args *args, cq_tensor **tensors, size_t max);

enum {
    CQ_SCRIPT_TRACE = 1 << 0 /* the example decides every branch and loop */
};

/* Calls a function, or a method of the archive's module; NULL is `forward`, or the only function.
 * Results are flattened: tuples, lists and dicts in order, without None. */
CQ_API cq_status cq_script_run(cq_script *script, const char *method, const cq_args *args,
                               cq_tensor **outputs, size_t max_outputs, size_t *n_outputs);

/* The same with options. Outputs that marks of the options name (<calque/annotate.h>) follow the
 * others. */
CQ_API cq_status cq_script_run_as(cq_script *script, const char *method, const cq_args *args,
                                  const cq_run_options *options, cq_tensor **outputs,
                                  size_t max_outputs, size_t *n_outputs);

/* The same inside of a forward function: computes on the data of its tensors, or records into the
 * graph being captured, where data-dependent branches and loops become If and Loop. As with any
 * call in a forward function, the context owns the results and keeps the first error. */
CQ_API cq_tensor *cq_script_call(cq_ctx *cx, cq_script *script, const char *method,
                                 cq_tensor *const *inputs, size_t n_inputs);
CQ_API void cq_script_call_n(cq_ctx *cx, cq_script *script, const char *method, const cq_args *args,
                             cq_tensor **outputs, size_t n_outputs);

/* Captures the call and exports it. flags are CQ_SCRIPT_*. Inputs without a name in the options are
 * named after the parameters: x, and in containers pair_0, options_scale. */
CQ_API cq_status cq_script_export(cq_onnx_model **out, cq_script *script, const char *method,
                                  const cq_args *args, uint32_t flags,
                                  const cq_export_options *options);

#ifdef __cplusplus
}
#endif

#endif
