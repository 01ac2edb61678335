/* Reading a profile of <calque/session.h>. */
#ifndef CQ_RUNTIME_PROFILE_H
#define CQ_RUNTIME_PROFILE_H

#include <calque/session.h>

/* Calls fn for the recorded nodes in order; names are borrowed during the call. */
typedef cq_status (*cq_profile_fn)(void *user, const char *node, const char *op_type,
                                   double seconds);
cq_status cq_profile_each(cq_profile *profile, cq_profile_fn fn, void *user);

#endif
