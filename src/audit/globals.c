/* Classifies the names that a pickle imports. A name that builds plain data is listed with its full
 * path, or by a module all of whose classes are data. Dangerous are names that start programs, read
 * or write files, evaluate text, import or look up other names, and loaders, which would need
 * another audit. All others are unknown. */
#include "audit/audit.h"

#include "base/str.h"

#include <stdio.h>

static const char *const data_names[] = {
    "builtins.set",
    "builtins.frozenset",
    "builtins.list",
    "builtins.dict",
    "builtins.tuple",
    "builtins.int",
    "builtins.float",
    "builtins.str",
    "builtins.bytes",
    "builtins.bytearray",
    "builtins.complex",
    "builtins.slice",
    "builtins.range",
    "builtins.bool",
    "builtins.object",
    "builtins.Ellipsis",
    "builtins.NotImplemented",
    "builtins.long",
    "builtins.unicode",
    "collections.OrderedDict",
    "collections.Counter",
    "collections.defaultdict",
    "collections.deque",
    "copyreg._reconstructor",
    "_codecs.encode",
    "datetime.datetime",
    "datetime.date",
    "datetime.time",
    "datetime.timedelta",
    "datetime.timezone",
    "decimal.Decimal",
    "fractions.Fraction",
    "uuid.UUID",
    "argparse.Namespace",
    "types.SimpleNamespace",
    "pathlib.PosixPath",
    "pathlib.PurePosixPath",
    "pathlib.WindowsPath",
    "pathlib.PureWindowsPath",
    "pathlib.Path",
    "pathlib.PurePath",
    "array.array",
    "array._array_reconstructor",
    "pathlib._local.PosixPath",
    "numpy.core.multiarray._reconstruct",
    "numpy.core.multiarray.scalar",
    "numpy.ndarray",
    "numpy._core.multiarray._reconstruct",
    "numpy._core.multiarray.scalar",
    "numpy.dtype",
    "numpy.core.numeric._frombuffer",
    "numpy._core.numeric._frombuffer",
    "numpy.random._pickle.__randomstate_ctor",
    "numpy.random._pickle.__generator_ctor",
    "numpy.random._pickle.__bit_generator_ctor",
    "numpy.ma.core._mareconstruct",
    "torch.Size",
    "torch.device",
    "torch.Tensor",
    "torch.Generator",
    "torch.BoolTensor",
    "torch.FloatTensor",
    "torch.DoubleTensor",
    "torch.HalfTensor",
    "torch.LongTensor",
    "torch.IntTensor",
    "torch.ShortTensor",
    "torch.CharTensor",
    "torch.ByteTensor",
    "torch.BFloat16Tensor",
    "torch.nn.parameter.Parameter",
    "torch.nn.parameter.Buffer",
    "torch.nn.parameter.UninitializedParameter",
    "torch.nn.parameter.UninitializedBuffer",
    "torch._tensor._rebuild_from_type_v2",
    "torch._tensor._rebuild_from_type",
    "torch.serialization._get_layout",
    "torch.storage._load_from_bytes_disallowed",
    "torch.storage.UntypedStorage",
    "torch.storage.TypedStorage",
    "torch._C._jit_tree_views",
    "torch.per_tensor_affine",
    "torch.per_channel_affine",
    "torch.per_tensor_symmetric",
    "torch.per_channel_symmetric",
    "torch.per_channel_affine_float_qparams",
    "torch.contiguous_format",
    "torch.channels_last",
    "torch.channels_last_3d",
    "torch.preserve_format",
    "torch.strided",
    "torch.sparse_coo",
    "torch.sparse_csr",
    "torch._prims_common.DeviceLikeType",
    "torch.distributed._shard.sharded_tensor.api.ShardedTensor",
    "torch.torch_version.TorchVersion",
    "torch._C.ScriptDict",
};

/* Modules whose classes are data: one more component, without a dot. */
static const char *const data_modules[] = {
    "torch.nn.modules.activation",    "torch.nn.modules.adaptive",
    "torch.nn.modules.batchnorm",     "torch.nn.modules.channelshuffle",
    "torch.nn.modules.container",     "torch.nn.modules.conv",
    "torch.nn.modules.distance",      "torch.nn.modules.dropout",
    "torch.nn.modules.flatten",       "torch.nn.modules.fold",
    "torch.nn.modules.instancenorm",  "torch.nn.modules.linear",
    "torch.nn.modules.loss",          "torch.nn.modules.module",
    "torch.nn.modules.normalization", "torch.nn.modules.padding",
    "torch.nn.modules.pixelshuffle",  "torch.nn.modules.pooling",
    "torch.nn.modules.rnn",           "torch.nn.modules.sparse",
    "torch.nn.modules.transformer",   "torch.nn.modules.upsampling",
};

static const char *const dtypes[] = {
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "half",
    "float",
    "double",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "short",
    "int",
    "long",
    "bool",
    "complex32",
    "complex64",
    "complex128",
    "cfloat",
    "cdouble",
    "chalf",
    "qint8",
    "quint8",
    "qint32",
    "quint4x2",
    "quint2x4",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "uint16",
    "uint32",
    "uint64",
    "bits8",
    "bits16",
    "float8_e8m0fnu",
    "float4_e2m1fn_x2",
};

static const struct storage_row {
    const char *name;
    uint32_t    element;
} storages[] = {
    { "DoubleStorage", 8 },
    { "FloatStorage", 4 },
    { "HalfStorage", 2 },
    { "LongStorage", 8 },
    { "IntStorage", 4 },
    { "ShortStorage", 2 },
    { "CharStorage", 1 },
    { "ByteStorage", 1 },
    { "BoolStorage", 1 },
    { "BFloat16Storage", 2 },
    { "ComplexDoubleStorage", 16 },
    { "ComplexFloatStorage", 8 },
    { "QInt8Storage", 1 },
    { "QUInt8Storage", 1 },
    { "QInt32Storage", 4 },
    { "QUInt4x2Storage", 1 },
    { "QUInt2x4Storage", 1 },
    { "UntypedStorage", 1 },
    { "Float8_e4m3fnStorage", 1 },
    { "Float8_e5m2Storage", 1 },
};

/* Modules of which every attribute is dangerous: the first part of the path. */
static const char *const dangerous_roots[] = {
    "os",
    "posix",
    "nt",
    "posixpath",
    "ntpath",
    "sys",
    "subprocess",
    "_posixsubprocess",
    "commands",
    "popen2",
    "shutil",
    "socket",
    "_socket",
    "socketserver",
    "ssl",
    "runpy",
    "webbrowser",
    "importlib",
    "imp",
    "_imp",
    "zipimport",
    "pkgutil",
    "ctypes",
    "_ctypes",
    "cffi",
    "multiprocessing",
    "_multiprocessing",
    "concurrent",
    "asyncio",
    "threading",
    "_thread",
    "pty",
    "tty",
    "code",
    "codeop",
    "cProfile",
    "profile",
    "pdb",
    "bdb",
    "timeit",
    "trace",
    "doctest",
    "unittest",
    "test",
    "idlelib",
    "lib2to3",
    "ensurepip",
    "venv",
    "pip",
    "setuptools",
    "distutils",
    "pydoc",
    "http",
    "httplib",
    "urllib",
    "urllib2",
    "urllib3",
    "requests",
    "aiohttp",
    "httpx",
    "ftplib",
    "smtplib",
    "poplib",
    "imaplib",
    "nntplib",
    "telnetlib",
    "xmlrpc",
    "pickle",
    "_pickle",
    "cPickle",
    "pickletools",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "inspect",
    "operator",
    "_operator",
    "gc",
    "signal",
    "_signal",
    "platform",
    "tempfile",
    "fileinput",
    "io",
    "_io",
    "codecs",
    "mmap",
    "fcntl",
    "resource",
    "atexit",
    "faulthandler",
    "_aix_support",
    "_osx_support",
    "_pyrepl",
    "tarfile",
    "zipfile",
    "sqlite3",
    "dbm",
    "linecache",
    "nturl2path",
    "antigravity",
    "turtle",
    "turtledemo",
    "tkinter",
    "logging",
    "warnings",
    "ast",
    "_ast",
    "dis",
    "symtable",
    "site",
    "sitecustomize",
    "builtins",
    "__builtin__",
    "__builtins__",
    "_frozen_importlib",
    "_frozen_importlib_external",
    "aifc",
    "winreg",
    "_winapi",
    "msvcrt",
    "paramiko",
    "fabric",
    "win32api",
    "psutil",
    "pexpect",
    "sh",
    "plumbum",
    "IPython",
    "nose",
    "bz2",
    "gzip",
    "lzma",
    "cgi",
    "cgitb",
    "mailcap",
    "mailbox",
    "compileall",
    "py_compile",
    "modulefinder",
    "pkg_resources",
    "wsgiref",
    "zipapp",
    "readline",
    "rlcompleter",
    "getpass",
    "netrc",
    "glob",
    "crypt",
    "ossaudiodev",
    "_tkinter",
    "spwd",
    "syslog",
};

/* Prefixes of dangerous names: modules of PyTorch and numpy that run code, load files or
 * evaluate text. */
static const char *const dangerous_prefixes[] = {
    "torch.load",
    "torch.jit.load",
    "torch.serialization.load",
    "torch.hub",
    "torch.package",
    "torch.utils.cpp_extension",
    "torch.utils.bottleneck",
    "torch.utils.collect_env",
    "torch.utils.data.datapipes",
    "torch.utils._config_module",
    "torch.utils.model_zoo",
    "torch.utils.mobile_optimizer",
    "torch._dynamo",
    "torch._inductor",
    "torch.fx",
    "torch.jit.unsupported_tensor_ops",
    "torch.jit._script",
    "torch.jit._serialization",
    "torch.jit.frontend",
    "torch.multiprocessing",
    "torch.distributed.run",
    "torch.distributed.launch",
    "torch.distributed.elastic",
    "torch.distributed.rpc",
    "torch.ops",
    "torch._ops",
    "torch.classes",
    "torch._classes",
    "torch._C._jit",
    "torch.export.load",
    "torch.compile",
    "torch.storage._load_from_bytes",
    "torch.from_file",
    "torch._export",
    "torch.library",
    "torch.testing",
    "torch._utils_internal",
    "torch.onnx",
    "torch.save",
    "torch._utils._import_dotted_name",
    "torch._import_dotted_name",
    "torch._C._import_py_module",
    "torch.serialization._",
    "torch.jit.script",
    "torch.utils.file_baton",
    "numpy.testing",
    "numpy.f2py",
    "numpy.distutils",
    "numpy.load",
    "numpy.save",
    "numpy.lib.npyio",
    "numpy.lib._npyio_impl",
    "numpy.lib.format",
    "numpy.loads",
    "numpy.core.records.fromfile",
    "numpy.fromfile",
    "numpy.memmap",
    "numpy.loadtxt",
    "numpy.genfromtxt",
    "numpy.ctypeslib",
    "numpy.core.memmap",
    "functools.reduce",
    "functools.partialmethod",
    "types.FunctionType",
    "types.CodeType",
    "types.LambdaType",
    "types.ModuleType",
    "types.MethodType",
    "types.DynamicClassAttribute",
    "uuid._",
    "weakref.finalize",
    "typing.get_type_hints",
    "typing.ForwardRef",
    "string.Formatter",
    "pathlib.Path.write_text",
    "pathlib.Path.write_bytes",
    "pathlib.Path.unlink",
    "pathlib.os",
    "pathlib.io",
    "collections.sys",
    "collections._sys",
    "bs4",
    "pandas.eval",
    "pandas.read_pickle",
    "pandas.io",
    "sympy.sympify",
    "sympy.parsing",
    "sympy.core.sympify",
    "tensorflow",
    "keras",
    "transformers.utils.hub",
    "huggingface_hub",
};

static bool is_under(const char *path, const char *prefix)
{
    const size_t n = strlen(prefix);

    return strncmp(path, prefix, n) == 0 &&
           (path[n] == '\0' || path[n] == '.' || prefix[n - 1] == '_');
}

static bool is_component(const char *text, size_t n, const char *name)
{
    return strlen(name) == n && strncmp(text, name, n) == 0;
}

/* Whether a component of a dotted path after the module is a dangerous module: io.os.system. */
static bool passes_through(const char *name)
{
    const char *p = name;

    while (p) {
        const size_t n = strcspn(p, ".");

        for (size_t i = 0; i < sizeof dangerous_roots / sizeof *dangerous_roots; i++)
            if (p[n] == '.' && (is_component(p, n, dangerous_roots[i]) ||
                                (*p == '_' && is_component(p + 1, n - 1, dangerous_roots[i]))))
                return true; /* modules import others under names with an underscore */
        if (strncmp(p, "__", 2) == 0 && (p > name || p[n] == '.'))
            return true; /* __globals__, __class__ … */
        p = p[n] ? p + n + 1 : NULL;
    }
    return false;
}

/* Classes begin with a capital. Functions of these modules register hooks, and their other
 * attributes, F among them, are modules. */
static bool is_class_name(const char *name)
{
    name += *name == '_';
    return *name >= 'A' && *name <= 'Z' && name[1];
}

static bool is_torch_data(const char *name)
{
    const size_t n = strlen(name);

    if (CQ_IS_AMONG(name, dtypes))
        return true;
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++)
        if (strcmp(name, storages[i].name) == 0)
            return true;
    return n > 9 && strncmp(name, "_rebuild_", 9) == 0;
}

cq_audit_class cq_audit_classify(const char *module, const char *name)
{
    char        path[1024], root[128];
    const char *short_module = strcmp(module, "__builtin__") == 0 ? "builtins" : module;

    if (strcmp(module, "copy_reg") == 0)
        short_module = "copyreg";
    if (snprintf(path, sizeof path, "%s.%s", short_module, name) >= (int)sizeof path)
        return CQ_AUDIT_GLOBAL_UNKNOWN;
    if (CQ_IS_AMONG(path, data_names))
        return CQ_AUDIT_GLOBAL_DATA;
    snprintf(root, sizeof root, "%.*s", (int)strcspn(path, "."), path);
    if (CQ_IS_AMONG(root, dangerous_roots) || passes_through(name))
        return CQ_AUDIT_GLOBAL_DANGEROUS;
    for (size_t i = 0; i < sizeof dangerous_prefixes / sizeof *dangerous_prefixes; i++)
        if (is_under(path, dangerous_prefixes[i]))
            return CQ_AUDIT_GLOBAL_DANGEROUS;
    if (strchr(name, '.'))
        return CQ_AUDIT_GLOBAL_UNKNOWN;
    if (strcmp(module, "torch") == 0 && is_torch_data(name) && strncmp(name, "_rebuild_", 9) != 0)
        return CQ_AUDIT_GLOBAL_DATA;
    if (strcmp(module, "torch._utils") == 0 && strncmp(name, "_rebuild_", 9) == 0)
        return CQ_AUDIT_GLOBAL_DATA;
    if (strcmp(module, "torch.storage") == 0 && is_torch_data(name))
        return CQ_AUDIT_GLOBAL_DATA;
    if (strcmp(module, "torch.jit._pickle") == 0 ||
        (CQ_IS_AMONG(module, data_modules) && is_class_name(name)))
        return CQ_AUDIT_GLOBAL_DATA;
    if (is_under(module, "__torch__")) /* classes of TorchScript, which are in the archive */
        return CQ_AUDIT_GLOBAL_DATA;
    return CQ_AUDIT_GLOBAL_UNKNOWN;
}

uint32_t cq_audit_storage_element(const char *module, const char *name)
{
    if (strcmp(module, "torch") != 0 && strcmp(module, "torch.storage") != 0 &&
        strcmp(module, "torch.cuda") != 0)
        return 0;
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++)
        if (strcmp(name, storages[i].name) == 0)
            return storages[i].element;
    return 0;
}
