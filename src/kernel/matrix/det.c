/* Determinants and inverses by elimination with the greatest pivot of each column. */
#include "kernel/matrix/det.h"
#include "kernel/operand.h"

#include <math.h>

/* Destroys the n by n matrix a. */
static double det_of(double *a, int64_t n)
{
    double det = 1;

    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;

        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        if (a[best * n + k] == 0)
            return 0;
        if (best != k)
            det = -det;
        for (int64_t j = k; j < n && best != k; j++) {
            double t = a[k * n + j];

            a[k * n + j]    = a[best * n + j];
            a[best * n + j] = t;
        }
        det *= a[k * n + k];
        for (int64_t i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];

            for (int64_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
    }
    return det;
}

cq_status cq_kernel_det(cq_tensor *out, const cq_tensor *x)
{
    cq_operands s = { .compute = CQ_DTYPE_F64 };
    int64_t     n, many = cq_tensor_numel(out);
    cq_tensor  *work;
    double     *to;
    cq_status   status;

    if (x->rank < 2 || cq_size_of(x, x->rank - 1) != cq_size_of(x, x->rank - 2) ||
        cq_sizes_product(x, 0, x->rank - 2) != many)
        return cq_operands_misfit("det", x, out);
    n = cq_size_of(x, x->rank - 1);
    CQ_TRY(cq_tensor_clone(&work, x, CQ_DTYPE_F64));
    to = cq_operands_out(&s, out);
    for (int64_t i = 0; s.status == CQ_OK && i < many; i++)
        to[i] = det_of((double *)cq_tensor_bytes(work) + i * n * n, n);
    status = cq_operands_close(&s);
    cq_tensor_release(work);
    return status;
}

/* Gauss-Jordan elimination: the steps that turn the n by n matrix a into the identity turn the
 * identity into the inverse. Destroys a. */
static void invert(double *to, double *a, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        to[i] = i % (n + 1) == 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        double  pivot;

        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        pivot = a[best * n + k];
        for (int64_t j = 0; j < n; j++) {
            double from_a = a[best * n + j], from_to = to[best * n + j];

            a[best * n + j]  = a[k * n + j];
            to[best * n + j] = to[k * n + j];
            a[k * n + j]     = from_a / pivot;
            to[k * n + j]    = from_to / pivot;
        }
        for (int64_t i = 0; i < n; i++) {
            double factor = a[i * n + k];

            for (int64_t j = 0; j < n && i != k; j++) {
                a[i * n + j] -= factor * a[k * n + j];
                to[i * n + j] -= factor * to[k * n + j];
            }
        }
    }
}

cq_status cq_kernel_inverse(cq_tensor *out, const cq_tensor *x)
{
    cq_operands s = { .compute = CQ_DTYPE_F64 };
    cq_tensor  *work;
    int64_t     n, many;
    double     *to;
    cq_status   status;

    if (x->rank < 2 || cq_size_of(x, x->rank - 1) != cq_size_of(x, x->rank - 2) ||
        cq_tensor_numel(out) != cq_tensor_numel(x))
        return cq_operands_misfit("inverse", x, out);
    n    = cq_size_of(x, x->rank - 1);
    many = cq_sizes_product(x, 0, x->rank - 2);
    CQ_TRY(cq_tensor_clone(&work, x, CQ_DTYPE_F64));
    to = cq_operands_out(&s, out);
    for (int64_t i = 0; s.status == CQ_OK && i < many; i++)
        invert(to + i * n * n, (double *)cq_tensor_bytes(work) + i * n * n, n);
    status = cq_operands_close(&s);
    cq_tensor_release(work);
    return status;
}
