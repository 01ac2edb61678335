/* What an untrusted file contains, without running or building any of it.
 *
 *     cq_audit *audit;
 *     if (cq_audit_file(&audit, "model.pt") == CQ_OK && cq_audit_verdict(audit) == CQ_VERDICT_SAFE)
 *         use("model.pt");
 *     cq_audit_free(audit);
 *
 * It reads files of torch.save (zip and legacy), TorchScript, .pt2, plain pickles, ONNX,
 * safetensors, .npy and .npz, and zip archives of these. Time and memory are in proportion to the
 * file. */
#ifndef CALQUE_AUDIT_H
#define CALQUE_AUDIT_H

#include <calque/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cq_verdict {
    CQ_VERDICT_SAFE    = 0, /* loading it builds plain data */
    CQ_VERDICT_UNKNOWN = 1, /* loading it needs unknown code, or the file is damaged */
    CQ_VERDICT_HOSTILE = 2  /* loading it would run code, open other files or deceive the reader */
} cq_verdict;

/* "safe", "unknown", "hostile". */
CQ_API const char *cq_verdict_name(cq_verdict verdict);

typedef struct cq_audit cq_audit;

typedef struct cq_audit_finding {
    cq_verdict  verdict; /* SAFE: a fact about the file */
    const char *code;    /* stable: "dangerous-global" */
    const char *where;   /* "model.pt!archive/data.pkl", "model.onnx" */
    const char *what;
} cq_audit_finding;

/* Fails only if the file cannot be read at all. Free *out with cq_audit_free. */
CQ_API cq_status cq_audit_file(cq_audit **out, const char *path);
CQ_API void      cq_audit_free(cq_audit *audit); /* NULL is fine */

CQ_API cq_verdict              cq_audit_verdict(const cq_audit *audit);
CQ_API const char             *cq_audit_format(const cq_audit *audit); /* "PyTorch archive" */
CQ_API size_t                  cq_audit_count(const cq_audit *audit);
CQ_API const cq_audit_finding *cq_audit_at(const cq_audit *audit, size_t index);

#ifdef __cplusplus
}
#endif

#endif
