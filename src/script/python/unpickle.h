/* Objects of Python from the values of a file of torch.save (archive/weights.h). */
#ifndef CQ_SCRIPT_PYTHON_UNPICKLE_H
#define CQ_SCRIPT_PYTHON_UNPICKLE_H

#include "script/python/python.h"

/* Replaces pickled objects by objects of the program's classes. The context owns the result. */
cq_status cq_python_unpickle(cq_eval *ev, cq_val v, cq_val *out);

/* Fails if classes in a tree of pickled modules are not found; the message lists all of them. */
cq_status cq_python_check_classes(cq_eval *ev, cq_val module, const char *file);

/* The same for all modules in the values of a file. */
cq_status cq_python_check_modules(cq_eval *ev, cq_val root, const char *file);

/* pickled.c: a file with a pickled module, as a program. Its classes are resolved later. */
struct cq_script;
struct cq_pickled;
cq_status cq_pickled_open(struct cq_script *s, cq_storage *bytes, const char *path);
void      cq_pickled_free(struct cq_pickled *p);

/* Builds the module at that key of the file; NULL: the only or usual one. */
cq_status cq_pickled_make(cq_eval *ev, const struct cq_pickled *p, const char *key, cq_val *out);

#endif
