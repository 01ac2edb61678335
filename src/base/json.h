/* JSON is jansson's; this is the one place where its header comes in. */
#ifndef CQ_BASE_JSON_H
#define CQ_BASE_JSON_H

#include <jansson.h>

#endif
