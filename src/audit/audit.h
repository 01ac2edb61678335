/* The parts of an audit. Each scanner reads bytes and adds findings; none builds the described
 * values. */
#ifndef CQ_AUDIT_AUDIT_H
#define CQ_AUDIT_AUDIT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "tensor/tensor.h"

#include <calque/audit.h>

enum {
    CQ_AUDIT_MAX_DEPTH    = 3,      /* archives inside archives */
    CQ_AUDIT_MAX_FINDINGS = 2000,   /* further ones only change the verdict */
    CQ_AUDIT_MAX_TEXTS    = 1 << 20 /* findings, also equal ones, whose text is written */
};

struct cq_audit {
    cq_arena   *arena;
    const char *format;
    cq_verdict  verdict;
    CQ_VEC(cq_audit_finding) findings;
    uint32_t  n_texts;
    cq_map    seen;       /* findings by their text, so that each is listed once */
    uint64_t  budget;     /* bytes of entries of archives that may still be read */
    uint64_t  max_values; /* in the stack and the memo of a pickle at one time */
    cq_status status;
};

/* Adds a finding, whose texts are copied. where is "FILE" or "FILE!ENTRY". */
void cq_audit_add(cq_audit *a, cq_verdict verdict, const char *code, const char *where,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "FILE!ENTRY" in the arena. */
const char *cq_audit_inside(cq_audit *a, const char *where, const char *entry);

/* Audits bytes of any format. depth counts the archives around them. The format of the outermost
 * bytes becomes that of the audit. */
void cq_audit_bytes(cq_audit *a, const unsigned char *data, size_t size, const char *where,
                    int depth);

/* ---- pickles: pickle_scan.c ---- */

/* A storage that tensors of a pickle refer to. */
typedef struct cq_audit_storage {
    const char *key; /* not terminated */
    uint32_t    key_size;
    uint32_t    element; /* bytes; 0: unknown */
    uint64_t    numel;
} cq_audit_storage;

typedef struct cq_audit_pickle {
    size_t   used;      /* bytes up to and with STOP */
    bool     is_whole;  /* STOP was reached */
    uint32_t n_globals; /* that were imported */
    uint32_t n_named;   /* of these, with names of letters and digits */
    uint32_t n_opcodes;
    bool     is_legacy_magic; /* its value is the number that files of torch.save began with */
    CQ_VEC(cq_audit_storage) storages;
} cq_audit_pickle;

/* Scans one pickle. Clear out->storages with cq_vec_clear. */
void cq_audit_scan_pickle(cq_audit *a, cq_audit_pickle *out, const unsigned char *data, size_t size,
                          const char *where);

/* Whether bytes that may be anything are a pickle; adds no findings. */
bool cq_audit_is_pickle(const cq_audit *a, const unsigned char *data, size_t size);

/* Whether bytes of another kind, such as weights, are a whole pickle that imports names. */
bool cq_audit_is_hidden_pickle(const cq_audit *a, const unsigned char *data, size_t size);

/* A file of consecutive pickles: legacy files of torch.save, .pkl. */
void cq_audit_scan_pickles(cq_audit *a, const unsigned char *data, size_t size, const char *where);

/* Replaces the text of STRING (in quotes) or UNICODE by its characters; false: out of memory. */
bool cq_audit_decode_text(cq_arena *arena, const char **text, uint32_t *size, bool is_string);

/* ---- names that pickles import: globals.c ---- */

typedef enum cq_audit_class {
    CQ_AUDIT_GLOBAL_DATA,    /* builds plain data */
    CQ_AUDIT_GLOBAL_UNKNOWN, /* unknown code */
    CQ_AUDIT_GLOBAL_DANGEROUS
} cq_audit_class;

cq_audit_class cq_audit_classify(const char *module, const char *name);

/* Bytes of an element of torch.FloatStorage, …; 0: it is not a storage. */
uint32_t cq_audit_storage_element(const char *module, const char *name);

/* ---- archives: zip_scan.c, archive_scan.c ---- */

typedef struct cq_audit_entry {
    const char *name;                              /* terminated copy in the arena */
    uint64_t    offset, packed, size, header, end; /* end: of the packed bytes */
    uint32_t    method, crc;
} cq_audit_entry;

typedef CQ_VEC(cq_audit_entry) cq_audit_entries;

bool cq_audit_is_zip(const unsigned char *data, size_t size);

/* The entries of an archive, after checks of its structure. Clear out with cq_vec_clear. */
void cq_audit_scan_zip(cq_audit *a, cq_audit_entries *out, const unsigned char *data, size_t size,
                       const char *where);

/* The bytes of an entry: in place, or unpacked into *heap, which the caller frees. NULL, after a
 * finding, if they cannot be had. */
const unsigned char *cq_audit_entry_bytes(cq_audit *a, const cq_audit_entry *e,
                                          const unsigned char *data, const char *where,
                                          void **heap);

void cq_audit_scan_archive(cq_audit *a, const unsigned char *data, size_t size, const char *where,
                           int depth);

/* ---- programs of torch.export: program_scan.c ---- */

void cq_audit_scan_program(cq_audit *a, const unsigned char *data, size_t size, const char *where);

/* ---- other formats ---- */

/* False if it is not an ONNX model, which is a finding if one is expected. is_file: where is its
 * path, so that external data can be found. */
bool cq_audit_scan_onnx(cq_audit *a, const unsigned char *data, size_t size, const char *where,
                        bool is_file, bool is_expected);
void cq_audit_scan_safetensors(cq_audit *a, const unsigned char *data, size_t size,
                               const char *where);
bool cq_audit_is_safetensors(const unsigned char *data, size_t size);
void cq_audit_scan_npy(cq_audit *a, const unsigned char *data, size_t size, const char *where);

#endif
