#include <calque/version.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

int32_t cq_version(void)
{
    return CQ_VERSION;
}

const char *cq_version_string(void)
{
    return TEXT(CQ_VERSION_MAJOR) "." TEXT(CQ_VERSION_MINOR) "." TEXT(CQ_VERSION_PATCH);
}
