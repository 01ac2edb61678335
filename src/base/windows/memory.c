/* Memory of POSIX on Windows, and random bytes. */
#include "base/windows/posix.h"
#include "base/windows/text.h"

#include <errno.h>
#include <windows.h>
/* After windows.h. */
#include <ntsecapi.h> /* RtlGenRandom */

/* A private map of a file, whose pages are copied when they are written, or zeros. */
void *mmap(void *at, size_t size, int access_, int how, int fd, int64_t offset)
{
    HANDLE section;
    void  *data;

    (void)at;
    (void)access_;
    if (how & MAP_ANONYMOUS) {
        data = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    } else {
        section = CreateFileMappingW((HANDLE)_get_osfhandle(fd), NULL, PAGE_WRITECOPY, 0, 0, NULL);
        data = section ? MapViewOfFile(section, FILE_MAP_COPY, (DWORD)(offset >> 32), (DWORD)offset,
                                       size)
                       : NULL;
        if (!data)
            cq_windows_fail();
        if (section)
            CloseHandle(section); /* the view keeps it */
        return data ? data : MAP_FAILED;
    }
    if (!data)
        cq_windows_fail();
    return data ? data : MAP_FAILED;
}

int munmap(void *data, size_t size)
{
    MEMORY_BASIC_INFORMATION info;

    (void)size;
    if (!VirtualQuery(data, &info, sizeof info))
        return cq_windows_fail();
    if (!(info.Type == MEM_MAPPED ? UnmapViewOfFile(data) : VirtualFree(data, 0, MEM_RELEASE)))
        return cq_windows_fail();
    return 0;
}

/* Unlocking pages that are not locked takes them out of the working set; nothing is lost. */
int madvise(void *data, size_t size, int advice)
{
    MEMORY_BASIC_INFORMATION info;

    (void)advice;
    if (!VirtualQuery(data, &info, sizeof info))
        return cq_windows_fail();
    if (info.Type == MEM_MAPPED)
        VirtualUnlock(data, size);
    else
        VirtualAlloc(data, size, MEM_RESET, PAGE_READWRITE);
    return 0;
}

long sysconf(int what)
{
    SYSTEM_INFO    system;
    MEMORYSTATUSEX memory = { .dwLength = sizeof memory };

    GetSystemInfo(&system);
    switch (what) {
    case _SC_PAGESIZE: return (long)system.dwPageSize;
    case _SC_NPROCESSORS_ONLN: return (long)system.dwNumberOfProcessors;
    case _SC_PHYS_PAGES: /* those that are free, as on Linux */
        return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullAvailPhys / system.dwPageSize) : -1;
    default: return -1;
    }
}

int getentropy(void *data, size_t size)
{
    if (RtlGenRandom(data, (ULONG)size))
        return 0;
    errno = ENOSYS;
    return -1;
}
