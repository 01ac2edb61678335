/* The objects of an archive besides numbers, texts, lists and tensors: script objects, members of
 * enums, quantized and sparse tensors. Each is a box in a cq_val of kind CQ_VAL_OBJECT; the cq_…_of
 * functions return NULL for all other kinds. */
#ifndef CQ_ARCHIVE_OBJECT_H
#define CQ_ARCHIVE_OBJECT_H

#include "tensor/value.h"

typedef enum cq_instance_kind {
    CQ_INSTANCE_OBJECT, /* class.__new__(class, *args), then its state */
    CQ_INSTANCE_CALL,   /* the result of class_name(*args), which may be a function */
    CQ_INSTANCE_CLASS,  /* the class or function itself */
    CQ_INSTANCE_CYCLE   /* replaces a container that it is in: `around` */
} cq_instance_kind;

/* An instance of a class: a module, a script class, a TorchBind object. Of a file of torch.save it
 * is any object of Python's, which nothing here interprets: its class, and the values it was
 * pickled with. */
typedef struct cq_instance {
    cq_box   box;
    char    *class_name; /* "__torch__.torch.nn.modules.linear.Linear", "builtins.set" */
    cq_dict *attrs;      /* in their order; never NULL */
    cq_val   state;      /* the pickled state: a class with __setstate__ interprets it; otherwise it
                            is the dict attrs. NONE: there is no state */

    /* Fields of Python objects only. */
    cq_instance_kind kind;
    cq_val           args;   /* a tuple: the arguments of the constructor or function, or NONE */
    cq_list         *items;  /* of a list or set, or a subclass; otherwise NULL */
    cq_dict         *pairs;  /* of a subclass of dict; otherwise NULL */
    const void      *around; /* of a CYCLE: the container, by its address only; never read */
} cq_instance;

cq_status    cq_instance_new(cq_instance **out, const char *class_name);
cq_instance *cq_instance_of(cq_val v);

/* A member of an enum, identified by its value. */
typedef struct cq_enum_member {
    cq_box box;
    char  *class_name;
    cq_val value;
} cq_enum_member;

cq_status       cq_enum_member_new(cq_enum_member **out, const char *class_name, cq_val value);
cq_enum_member *cq_enum_member_of(cq_val v);

/* A tensor of small integers that represent (value - zero point) * scale. */
typedef struct cq_quantized {
    cq_box     box;
    cq_tensor *values;      /* int8, uint8 or int32 */
    int        torch_dtype; /* 12 qint8, 13 quint8, 14 qint32 */
    double     scale;       /* per tensor */
    int64_t    zero_point;
    cq_tensor *scales, *zero_points; /* per channel, else NULL */
    int64_t    axis;
    bool       float_zero_points; /* per_channel_affine_float_qparams */
} cq_quantized;

cq_status     cq_quantized_new(cq_quantized **out, cq_tensor *values, int torch_dtype);
cq_quantized *cq_quantized_of(cq_val v);

/* A sparse tensor by coordinates (indices, values) or by rows (row starts, columns, values). */
typedef struct cq_sparse {
    cq_box     box;
    bool       by_rows;
    cq_list   *sizes;                      /* of ints */
    cq_tensor *indices, *columns, *values; /* columns is NULL unless by_rows */
} cq_sparse;

cq_status  cq_sparse_new(cq_sparse **out, bool by_rows, cq_list *sizes, cq_tensor *indices,
                         cq_tensor *columns, cq_tensor *values); /* retains all */
cq_sparse *cq_sparse_of(cq_val v);

#endif
