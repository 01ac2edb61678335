/* JSON is jansson's; this is the only file that includes its header. */
#ifndef CQ_BASE_JSON_H
#define CQ_BASE_JSON_H

#include <jansson.h>

#endif
