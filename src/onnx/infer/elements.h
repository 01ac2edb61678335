/* Computes with the elements of small tensors: the shape arithmetic of a graph. Float32 results are
 * rounded as by a float32 kernel, so that floor gives the same number. */
#ifndef CQ_ONNX_INFER_ELEMENTS_H
#define CQ_ONNX_INFER_ELEMENTS_H

#include "onnx/infer/rule.h"

/* r provides the symbols and, by the type of output 0, the kind of arithmetic. */
typedef cq_ielem (*cq_ielem_fn1)(const cq_rule *r, cq_ielem a);
typedef cq_ielem (*cq_ielem_fn2)(const cq_rule *r, cq_ielem a, cq_ielem b);

/* Data rules: a function that is applied to each element of input 0, or folded over all inputs. */
cq_status cq_rule_map1(cq_rule *r, cq_ielem_fn1 fn);
cq_status cq_rule_fold(cq_rule *r, cq_ielem_fn2 fn);
cq_status cq_rule_where_data(cq_rule *r);

cq_ielem cq_ielem_int(cq_int value);
cq_ielem cq_ielem_cast(const cq_rule *r, cq_ielem a);
cq_ielem cq_ielem_neg(const cq_rule *r, cq_ielem a);
cq_ielem cq_ielem_abs(const cq_rule *r, cq_ielem a);
cq_ielem cq_ielem_floor(const cq_rule *r, cq_ielem a);
cq_ielem cq_ielem_ceil(const cq_rule *r, cq_ielem a);
cq_ielem cq_ielem_round(const cq_rule *r, cq_ielem a);
cq_ielem cq_ielem_sqrt(const cq_rule *r, cq_ielem a);
cq_ielem cq_ielem_not(const cq_rule *r, cq_ielem a);
cq_ielem cq_ielem_add(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_sub(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_mul(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_div(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_mod(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_min(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_max(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_equal(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_less(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_less_equal(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_greater(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_greater_equal(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_and(const cq_rule *r, cq_ielem a, cq_ielem b);
cq_ielem cq_ielem_or(const cq_rule *r, cq_ielem a, cq_ielem b);

/* Converts sizes to elements and back. */
cq_ielem cq_ielem_of_dim(cq_dim d);
cq_dim   cq_dim_of_ielem(cq_ielem e);

/* Shape rules that other families use too. */
cq_status cq_rule_same(cq_rule *r);      /* output 0 has the shape of input 0 */
cq_status cq_rule_broadcast(cq_rule *r); /* output 0 has the broadcast shape of all inputs */

#endif
