/* JSON by jansson; only this file includes its header. */
#ifndef CQ_BASE_JSON_H
#define CQ_BASE_JSON_H

#include <jansson.h>

#endif
