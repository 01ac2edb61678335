#include "base/signature.h"

#include <string.h>

static const struct signature {
    size_t      offset;
    const char *bytes;
    size_t      size;
    const char *what, *hint;
} signatures[] = {
    { 0, "PYTORCH1", 8, "this is a model of PyTorch 0.4's preview format",
      "save it again with a current PyTorch" },
    { 0, "\x80\x02\x8a\x0al\xfc", 6, "this was written by torch.save: it holds values, but no code",
      "give the source of the model: calque export model.py --weights FILE; or save the program "
      "with torch.export.save" },
    { 0, "\x80", 1, "this is a pickle of Python objects, not an archive",
      "save a model by torch.export.save, weights by torch.save(model.state_dict(), ...)" },
    { 4, "PTMF", 4, "this is a mobile model in the flatbuffer format",
      "save the model by torch.export.save" },
    { 4, "ET1", 3, "this is a program of ExecuTorch", "save the model by torch.export.save" },
    { 8, "{\"", 2, "this is a file of safetensors, which holds weights and no program",
      "give the source of the model: calque export model.py --weights FILE" },
    { 0, "GGUF", 4, "this is a GGUF file, which holds weights and no program", NULL },
    { 0, "version https://git-lfs", 23, "this is a pointer of Git LFS, not the file it stands for",
      "git lfs pull fetches it" },
    { 0, "<", 1, "this is a page of HTML or XML, maybe one that says why a download failed",
      "download the file again" },
    { 0, "{", 1, "this is JSON, not a model", NULL },
    { 4, "ORTM", 4, "this is a model in ONNX Runtime's own format (.ort)",
      "use the ONNX model that it was made of" },
    { 4, "TFL3", 4, "this is a model of TensorFlow Lite", NULL },
    { 0, "\x89HDF", 4, "this is an HDF5 file", NULL },
    { 0, "\x89PNG", 4, "this is a picture (PNG)", NULL },
    { 0, "\xff\xd8\xff", 3, "this is a picture (JPEG)", NULL },
    { 0, "\x1f\x8b", 2, "this is a gzip file", "unpack it first" },
    { 0, "BZh", 3, "this is a bzip2 file", "unpack it first" },
    { 0,
      "\xfd"
      "7zXZ",
      5, "this is an xz file", "unpack it first" },
    { 0, "\x28\xb5\x2f\xfd", 4, "this is a Zstandard file", "unpack it first" },
    { 0, "7z\xbc\xaf", 4, "this is a 7z file", "unpack it first" },
    { 257, "ustar", 5, "this is a tar file", "unpack it first" },
};

cq_status cq_fail_empty(const char *path)
{
    return cq_fail(CQ_E_FORMAT, path, "the file was not written or downloaded completely",
                   "the file is empty");
}

cq_status cq_check_signature(const void *data, size_t size, const char *path)
{
    if (!size)
        return cq_fail_empty(path);
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *s = &signatures[i];

        if (size >= s->offset + s->size &&
            memcmp((const char *)data + s->offset, s->bytes, s->size) == 0)
            return cq_fail(CQ_E_UNSUPPORTED, path, s->hint, "%s", s->what);
    }
    return CQ_OK;
}

cq_status cq_check_text_signature(const void *data, size_t size, const char *path)
{
    static const char *const starts[] = { "version https://git-lfs", "<", "{" };

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (size >= strlen(starts[i]) && memcmp(data, starts[i], strlen(starts[i])) == 0)
            return cq_check_signature(data, size, path);
    return CQ_OK;
}
