/* Linear models and support vector machines of ai.onnx.ml. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/ml.h"
#include "runtime/plan/work.h"

#include <math.h>
#include <string.h>

static cq_status wrong_lists(void)
{
    return cq_fail(CQ_E_INVALID, NULL, NULL,
                   "the lengths of the model's lists do not match each other or X");
}

/* ---- linear models ---- */

typedef struct linear {
    double *weights, *intercepts;
    int64_t n_weights, n_intercepts, n_targets;
} linear;

static void linear_clear(linear *m)
{
    cq_free(m->weights);
    cq_free(m->intercepts);
}

static cq_status linear_read(linear *m, cq_rt *rt, int64_t n_targets, const cq_ml_rows *rows)
{
    const int64_t width = rows->width;

    CQ_TRY(cq_ml_floats(&m->weights, &m->n_weights, rt, "coefficients"));
    CQ_TRY(cq_ml_floats(&m->intercepts, &m->n_intercepts, rt, "intercepts"));
    m->n_targets = n_targets ? n_targets : m->n_intercepts;
    if (!m->n_targets && width)
        m->n_targets = m->n_weights / width;
    if (m->n_targets < 1 || m->n_targets > INT32_MAX || m->n_weights != m->n_targets * width ||
        (m->n_intercepts && m->n_intercepts != m->n_targets))
        return wrong_lists();
    return cq_rt_spend_on_elements(rt, (double)rows->n * (double)m->n_weights);
}

static void linear_scores(double *to, const linear *m, const double *x, int64_t width)
{
    for (int64_t k = 0; k < m->n_targets; k++) {
        to[k] = m->n_intercepts ? m->intercepts[k] : 0;
        for (int64_t i = 0; i < width; i++)
            to[k] += m->weights[k * width + i] * x[i];
    }
}

static cq_status linear_regressor(cq_rt *rt)
{
    linear          m = { 0 };
    cq_ml_rows      rows;
    cq_ml_transform how;
    cq_tensor      *y;
    double         *to;
    cq_status       status = cq_ml_rows_open(&rows, cq_rt_in(rt, 0));

    if (status == CQ_OK)
        status = cq_ml_transform_of(&how, rt);
    if (status == CQ_OK)
        status = linear_read(&m, rt, cq_rt_int(rt, "targets"), &rows);
    if (status == CQ_OK)
        status = cq_rt_out(&y, rt, 0, CQ_DTYPE_F32, 2, (int64_t[]){ rows.n, m.n_targets });
    to = status == CQ_OK ? cq_operands_out(&rows.s, y) : NULL;
    for (int64_t i = 0; to && i < rows.n; i++) {
        linear_scores(to + i * m.n_targets, &m, rows.at + i * rows.width, rows.width);
        cq_ml_transform_row(to + i * m.n_targets, m.n_targets, how);
    }
    linear_clear(&m);
    return cq_operands_close(&rows.s) == CQ_OK ? status : rows.s.status;
}

/* Writes the output scores of a row and returns the index of its label. One score of two classes
 * becomes two; it is positive for the second class. */
static int64_t classify(double *to, int64_t n, bool is_pair, cq_ml_transform how)
{
    int64_t label = n == 1 ? to[0] > 0 : cq_ml_greatest(to, n);

    if (n > 1 || !is_pair || how == CQ_ML_PROBIT)
        cq_ml_transform_row(to, n, how);
    if (n == 1 && is_pair)
        cq_ml_second_score(to, false, how);
    return label;
}

static cq_status linear_classifier(cq_rt *rt)
{
    linear          m = { 0 };
    cq_ml_rows      rows;
    cq_ml_transform how;
    int64_t         n_labels = cq_ml_n_labels(rt, "classlabels_ints"), n, *which = NULL;
    bool            is_pair;
    cq_tensor      *z;
    double         *to;
    cq_status       status;

    CQ_TRY_OR_DONE(cq_ml_rows_open(&rows, cq_rt_in(rt, 0)));
    CQ_TRY_OR_DONE(cq_ml_transform_of(&how, rt));
    CQ_TRY_OR_DONE(linear_read(&m, rt, 0, &rows));
    is_pair = m.n_targets == 1 && n_labels == 2;
    n       = is_pair ? 2 : m.n_targets;
    if (m.n_targets > 1 ? n_labels < m.n_targets : n_labels < 2)
        CQ_TRY_OR_DONE(wrong_lists());
    which = cq_alloc_array((size_t)rows.n + 1, sizeof *which);
    CQ_TRY_OR_DONE(which ? CQ_OK : CQ_E_NO_MEMORY);
    CQ_TRY_OR_DONE(cq_rt_out(&z, rt, 1, CQ_DTYPE_F32, 2, (int64_t[]){ rows.n, n }));
    to = cq_operands_out(&rows.s, z);
    for (int64_t i = 0; to && i < rows.n; i++) {
        linear_scores(to + i * n, &m, rows.at + i * rows.width, rows.width);
        which[i] = classify(to + i * n, m.n_targets, is_pair, how);
    }
    status = cq_ml_set_labels(rt, "classlabels_ints", which, rows.n);
done:
    linear_clear(&m);
    cq_free(which);
    return cq_operands_close(&rows.s) == CQ_OK ? status : rows.s.status;
}

/* ---- support vectors ---- */

typedef struct machine {
    double *vectors, *weights, *rho, *params, *prob_a, *prob_b;
    int64_t n_vectors, n_weights, n_rho, n_params, n_prob_a, n_prob_b;
    int64_t width;  /* of a vector */
    char    kernel; /* first letter of the kernel's name */
} machine;

static void machine_clear(machine *m)
{
    cq_free(m->vectors);
    cq_free(m->weights);
    cq_free(m->rho);
    cq_free(m->params);
    cq_free(m->prob_a);
    cq_free(m->prob_b);
}

static cq_status machine_read(machine *m, cq_rt *rt, int64_t width)
{
    static const char *const kernels[] = { "LINEAR", "POLY", "RBF", "SIGMOID" };

    CQ_TRY(cq_ml_floats(&m->vectors, &m->n_vectors, rt, "support_vectors"));
    CQ_TRY(cq_ml_floats(&m->weights, &m->n_weights, rt, "coefficients"));
    CQ_TRY(cq_ml_floats(&m->rho, &m->n_rho, rt, "rho"));
    CQ_TRY(cq_ml_floats(&m->params, &m->n_params, rt, "kernel_params"));
    CQ_TRY(cq_ml_floats(&m->prob_a, &m->n_prob_a, rt, "prob_a"));
    CQ_TRY(cq_ml_floats(&m->prob_b, &m->n_prob_b, rt, "prob_b"));
    for (size_t i = 0; i < 4; i++)
        if (cq_rt_is(rt, "kernel_type", kernels[i]))
            m->kernel = kernels[i][0];
    m->width = width;
    if (!m->kernel || width < 1 || !m->n_rho || (m->n_params && m->n_params != 3) ||
        m->n_vectors % width)
        return wrong_lists();
    m->n_vectors /= width;
    return CQ_OK;
}

static double kernel(const machine *m, const double *a, const double *b)
{
    double gamma = m->n_params ? m->params[0] : 0, coef0 = m->n_params ? m->params[1] : 0, sum = 0;

    for (int64_t i = 0; i < m->width; i++)
        sum += m->kernel == 'R' ? (a[i] - b[i]) * (a[i] - b[i]) : a[i] * b[i];
    switch (m->kernel) {
    case 'P': return pow(gamma * sum + coef0, m->n_params ? m->params[2] : 0);
    case 'R': return exp(-gamma * sum);
    case 'S': return tanh(gamma * sum + coef0);
    default: return sum;
    }
}

static double regress(const machine *m, const double *x)
{
    double sum = m->rho[0];

    if (!m->n_vectors)
        return sum + kernel(m, x, m->weights);
    for (int64_t i = 0; i < m->n_vectors; i++)
        sum += m->weights[i] * kernel(m, x, m->vectors + i * m->width);
    return sum;
}

/* As in ONNX Runtime, a single score is not transformed. */
static cq_status svm_regressor(cq_rt *rt)
{
    machine    m = { 0 };
    cq_ml_rows rows;
    cq_tensor *y;
    double    *to = NULL;
    cq_status  status;

    CQ_TRY_OR_DONE(cq_ml_rows_open(&rows, cq_rt_in(rt, 0)));
    CQ_TRY_OR_DONE(machine_read(&m, rt, rows.width));
    CQ_TRY_OR_DONE(
        cq_rt_spend_on_elements(rt, (double)rows.n * (double)m.n_vectors * (double)m.width));
    if (m.n_vectors ? m.n_weights < m.n_vectors : m.n_weights < m.width)
        CQ_TRY_OR_DONE(wrong_lists());
    CQ_TRY_OR_DONE(cq_rt_out(&y, rt, 0, CQ_DTYPE_F32, 2, (int64_t[]){ rows.n, 1 }));
    to = cq_operands_out(&rows.s, y);
    for (int64_t i = 0; to && i < rows.n; i++) {
        to[i] = regress(&m, rows.at + i * rows.width);
        if (cq_rt_int(rt, "one_class"))
            to[i] = to[i] > 0 ? 1 : -1;
    }
    status = CQ_OK;
done:
    machine_clear(&m);
    return cq_operands_close(&rows.s) == CQ_OK ? status : rows.s.status;
}

/* ---- classes by support vectors ---- */

typedef struct voters {
    machine  m;
    int64_t  n_classes, *starts; /* starts: index of the first vector of each class */
    bool     by_vectors;         /* otherwise one row of weights per class */
    double  *kernels, *scores;   /* of vectors; and of pairs of classes, or of classes */
    double  *pairs, *shares;     /* used for probabilities */
    int64_t *votes;
} voters;

static void voters_clear(voters *v)
{
    machine_clear(&v->m);
    cq_free(v->starts);
    cq_free(v->kernels);
    cq_free(v->scores);
    cq_free(v->pairs);
    cq_free(v->shares);
    cq_free(v->votes);
}

static cq_status voters_read(voters *v, cq_rt *rt, int64_t width)
{
    const cq_onnx_attribute *sizes = cq_rt_attr_given(rt, "vectors_per_class");
    int64_t                  n = v->n_classes = cq_ml_n_labels(rt, "classlabels_ints"), n_pairs;

    CQ_TRY(machine_read(&v->m, rt, width));
    v->by_vectors = v->m.n_vectors > 0;
    n_pairs       = n * (n - 1) / 2;
    if (n < 2 || n > INT16_MAX ||
        (v->by_vectors ? !sizes || sizes->ints.n != n || v->m.n_rho < n_pairs ||
                             v->m.n_weights < (n - 1) * v->m.n_vectors
                       : v->m.n_weights < n * width) ||
        (v->m.n_prob_a && (v->m.n_prob_a < n_pairs || v->m.n_prob_b < n_pairs)))
        return wrong_lists();
    v->starts  = cq_zalloc((size_t)(n + 1) * sizeof *v->starts);
    v->kernels = cq_zalloc((size_t)(v->m.n_vectors + 1) * sizeof *v->kernels);
    v->scores  = cq_zalloc((size_t)(n_pairs + n) * sizeof *v->scores);
    v->pairs   = cq_zalloc((size_t)(n * n) * 2 * sizeof *v->pairs);
    v->shares  = cq_zalloc((size_t)n * 2 * sizeof *v->shares);
    v->votes   = cq_zalloc((size_t)n * sizeof *v->votes);
    if (!v->starts || !v->kernels || !v->scores || !v->pairs || !v->shares || !v->votes)
        return CQ_E_NO_MEMORY;
    for (int64_t i = 0; v->by_vectors && i < n; i++) {
        v->starts[i + 1] = v->starts[i] + sizes->ints.items[i];
        if (sizes->ints.items[i] < 0 || v->starts[i + 1] > v->m.n_vectors)
            return wrong_lists();
    }
    return CQ_OK;
}

/* Computes a score for each pair of classes; the first class of the pair gets the vote if it is
 * positive. */
static void vote(voters *v, const double *x)
{
    const machine *m = &v->m;
    int64_t        n = 0;

    memset(v->votes, 0, (size_t)v->n_classes * sizeof *v->votes);
    for (int64_t i = 0; i < m->n_vectors; i++)
        v->kernels[i] = kernel(m, x, m->vectors + i * m->width);
    for (int64_t i = 0; i < v->n_classes; i++)
        for (int64_t k = i + 1; k < v->n_classes; k++, n++) {
            double sum = m->rho[n];

            for (int64_t a = v->starts[i]; a < v->starts[i + 1]; a++)
                sum += m->weights[(k - 1) * m->n_vectors + a] * v->kernels[a];
            for (int64_t b = v->starts[k]; b < v->starts[k + 1]; b++)
                sum += m->weights[i * m->n_vectors + b] * v->kernels[b];
            v->scores[n] = sum;
            v->votes[sum > 0 ? i : k]++;
        }
}

enum { COUPLING_ROUNDS = 100 };

/* Computes probabilities of classes from those of pairs by libsvm's iteration (Wu, Lin and Weng,
 * 2004). */
static void couple(voters *v)
{
    int64_t n = v->n_classes;
    double *r = v->pairs, *q = r + n * n, *p = v->shares, *qp = p + n;

    for (int64_t t = 0; t < n; t++) {
        p[t]         = 1.0 / (double)n;
        q[t * n + t] = 0;
        for (int64_t k = 0; k < n; k++)
            if (k != t) {
                q[t * n + t] += r[k * n + t] * r[k * n + t];
                q[t * n + k] = -r[k * n + t] * r[t * n + k];
            }
    }
    for (int round = 0; round < COUPLING_ROUNDS; round++) {
        double pqp = 0, worst = 0;

        for (int64_t t = 0; t < n; t++) {
            qp[t] = 0;
            for (int64_t k = 0; k < n; k++)
                qp[t] += q[t * n + k] * p[k];
            pqp += p[t] * qp[t];
        }
        for (int64_t t = 0; t < n; t++)
            worst = fmax(worst, fabs(qp[t] - pqp));
        if (worst < 0.005 / (double)n)
            return;
        for (int64_t t = 0; t < n; t++) {
            double step = (pqp - qp[t]) / q[t * n + t];

            p[t] += step;
            pqp = (pqp + step * (step * q[t * n + t] + 2 * qp[t])) / (1 + step) / (1 + step);
            for (int64_t k = 0; k < n; k++) {
                qp[k] = (qp[k] + step * q[t * n + k]) / (1 + step);
                p[k] /= 1 + step;
            }
        }
    }
}

static void find_shares(voters *v)
{
    int64_t n = v->n_classes, at = 0;

    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i + 1; k < n; k++, at++) {
            double p = 1 / (1 + exp(v->scores[at] * v->m.prob_a[at] + v->m.prob_b[at]));

            p                   = fmin(fmax(p, 1e-7), 1 - 1e-7);
            v->pairs[i * n + k] = p;
            v->pairs[k * n + i] = 1 - p;
        }
    couple(v);
}

/* Writes the output scores of a row and returns its label. */
static int64_t judge(double *to, int64_t n_out, voters *v, const double *x, cq_ml_transform how)
{
    int64_t n = v->n_classes, label = 0;

    if (!v->by_vectors) {
        for (int64_t k = 0; k < n; k++)
            to[k] = kernel(&v->m, x, v->m.weights + k * v->m.width) + v->m.rho[0];
        label = cq_ml_greatest(to, n);
        cq_ml_transform_row(to, n, how);
        return label;
    }
    vote(v, x);
    for (int64_t k = 1; k < n; k++)
        label = v->votes[k] > v->votes[label] ? k : label;
    if (v->m.n_prob_a) {
        find_shares(v);
        memcpy(to, v->shares, (size_t)n * sizeof *to);
    } else {
        memcpy(to, v->scores, (size_t)(n == 2 ? 1 : n_out) * sizeof *to);
    }
    if (n == 2 && !v->m.n_prob_a)
        cq_ml_second_score(to, true, how);
    else
        cq_ml_transform_row(to, n_out, how);
    return label;
}

static cq_status spend_on_votes(cq_rt *rt, const voters *v, double n_rows)
{
    const double n = (double)v->n_classes, width = (double)v->m.width;
    double       products = n * width;

    if (v->by_vectors)
        products = (double)v->m.n_vectors * (width + n) + n * n;
    if (v->by_vectors && v->m.n_prob_a)
        products += COUPLING_ROUNDS * n * n;
    return cq_rt_spend_on_elements(rt, n_rows * products);
}

static cq_status svm_classifier(cq_rt *rt)
{
    voters          v = { 0 };
    cq_ml_rows      rows;
    cq_ml_transform how;
    int64_t         n, *which = NULL;
    cq_tensor      *z;
    double         *to;
    cq_status       status;

    CQ_TRY_OR_DONE(cq_ml_rows_open(&rows, cq_rt_in(rt, 0)));
    CQ_TRY_OR_DONE(cq_ml_transform_of(&how, rt));
    CQ_TRY_OR_DONE(voters_read(&v, rt, rows.width));
    CQ_TRY_OR_DONE(spend_on_votes(rt, &v, (double)rows.n));
    n     = v.n_classes;
    n     = n > 2 && v.by_vectors && !v.m.n_prob_a ? n * (n - 1) / 2 : n;
    which = cq_alloc_array((size_t)rows.n + 1, sizeof *which);
    CQ_TRY_OR_DONE(which ? CQ_OK : CQ_E_NO_MEMORY);
    CQ_TRY_OR_DONE(cq_rt_out(&z, rt, 1, CQ_DTYPE_F32, 2, (int64_t[]){ rows.n, n }));
    to = cq_operands_out(&rows.s, z);
    for (int64_t i = 0; to && i < rows.n; i++)
        which[i] = judge(to + i * n, n, &v, rows.at + i * rows.width, how);
    status = cq_ml_set_labels(rt, "classlabels_ints", which, rows.n);
done:
    voters_clear(&v);
    cq_free(which);
    return cq_operands_close(&rows.s) == CQ_OK ? status : rows.s.status;
}

const cq_rt_row cq_rt_rows_ml_linear[] = {
    { "LinearClassifier", 1, linear_classifier, 0, 0 },
    { "LinearRegressor", 1, linear_regressor, 0, 0 },
    { "SVMClassifier", 1, svm_classifier, 0, 0 },
    { "SVMRegressor", 1, svm_regressor, 0, 0 },
    { 0 },
};
