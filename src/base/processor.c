#include "base/processor.h"

#if defined(__linux__) && defined(__aarch64__)

#include <sys/auxv.h>

bool cq_processor_has_dotprod(void)
{
    return getauxval(AT_HWCAP) >> 20 & 1; /* HWCAP_ASIMDDP */
}

bool cq_processor_has_i8mm(void)
{
    return cq_processor_has_dotprod() && (getauxval(AT_HWCAP2) >> 13 & 1); /* HWCAP2_I8MM */
}

#elif defined(__APPLE__) && defined(__aarch64__)

#include <sys/sysctl.h>

static bool has(const char *feature)
{
    int    value = 0;
    size_t size  = sizeof value;

    return sysctlbyname(feature, &value, &size, NULL, 0) == 0 && value;
}

bool cq_processor_has_dotprod(void)
{
    return has("hw.optional.arm.FEAT_DotProd");
}

bool cq_processor_has_i8mm(void)
{
    return cq_processor_has_dotprod() && has("hw.optional.arm.FEAT_I8MM");
}

#else

bool cq_processor_has_dotprod(void)
{
    return false;
}

bool cq_processor_has_i8mm(void)
{
    return false;
}

#endif
