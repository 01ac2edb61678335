#include "base/cancel.h"

#include "test.h"

#include <time.h>

static bool wanted;
static int  n_asked;

static bool ask(void *user)
{
    n_asked += user == &n_asked;
    return !wanted;
}

/* Checks until the handler has been called again, or certainly will not be. */
static cq_status poll(void)
{
    const int before = n_asked;
    time_t    begun  = time(NULL);
    cq_status status = CQ_OK;

    while (n_asked == before && status == CQ_OK && time(NULL) - begun < 5)
        status = cq_check_cancelled();
    return status;
}

TEST(cancel, the_handler_is_called_at_intervals_and_decides)
{
    CHECK_OK(cq_check_cancelled());
    wanted = true;
    cq_set_cancel_handler(ask, &n_asked);
    CHECK_OK(cq_check_cancelled());
    CHECK_INT(0, n_asked);
    CHECK_OK(poll());
    CHECK_INT(1, n_asked);
    wanted = false;
    CHECK_STATUS(CQ_E_CANCELLED, poll());
    CHECK_STR("cancelled", cq_status_name(cq_last_error()->status));
    CHECK_STATUS(CQ_E_CANCELLED, cq_check_cancelled()); /* waiting does not change that */
    cq_set_cancel_handler(NULL, NULL);
    CHECK_OK(cq_check_cancelled());
}

RUN_TESTS(TEST_OF(cancel, the_handler_is_called_at_intervals_and_decides))
