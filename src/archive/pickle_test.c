/* Malicious pickles and zips, and the limits. tests/peer/archive.py compares files written by
 * PyTorch. */
#include "test.h"

#include "archive/weights.h"
#include "archive/torchscript.h"
#include "base/str.h"

#include <stdlib.h>

static cq_status storage(void *user, const char *key, uint64_t size, cq_storage **out)
{
    const float numbers[] = { 0, 1, 2, 3 };

    (void)user;
    (void)size;
    (void)key;
    CQ_TRY(cq_storage_new(out, sizeof numbers));
    memcpy((*out)->data, numbers, sizeof numbers);
    return CQ_OK;
}

static cq_status unpickle_n(cq_val *out, const char *text, size_t size)
{
    cq_pickle_source source = { .data = text, .size = size, .where = "<test>", .storage = storage };

    return cq_unpickle(out, &source);
}

#define UNPICKLE(out, text) unpickle_n((out), (text), sizeof(text) - 1)

static void check_refused(cq_status want, const char *text, size_t size, const char *message)
{
    cq_val v;

    CHECK_STATUS(want, unpickle_n(&v, text, size));
    CHECK(v.kind == CQ_VAL_NONE);
    if (!strstr(cq_last_error()->message, message))
        CHECK_STR(message, cq_last_error()->message);
    CHECK_STR("<test>", cq_last_error()->where);
}

#define CHECK_REFUSED(status, text, message)                                                       \
    check_refused((status), (text), sizeof(text) - 1, (message))

TEST(pickle, numbers_of_all_sizes)
{
    cq_val v;

    CHECK_OK(UNPICKLE(&v, "\x80\x02(K\xffM\xff\xffJ\xff\xff\xff\xff\x8a\x08\0\0\0\0\0\0\0\x80"
                          "\x8a\x00\x8a\x01\xfeG\x3f\xf8\0\0\0\0\0\0\x88Nt."));
    CHECK_INT(9, v.u.list->n);
    CHECK_INT(255, v.u.list->items[0].u.i.value);
    CHECK_INT(65535, v.u.list->items[1].u.i.value);
    CHECK_INT(-1, v.u.list->items[2].u.i.value);
    CHECK(v.u.list->items[3].u.i.value == INT64_MIN);
    CHECK_INT(0, v.u.list->items[4].u.i.value);
    CHECK_INT(-2, v.u.list->items[5].u.i.value);
    CHECK(v.u.list->items[6].u.f.value == 1.5);
    cq_val_release(v);
    CHECK_REFUSED(CQ_E_FORMAT, "\x8a\x09\0\0\0\0\0\0\0\0\x01.", "does not fit in 64 bits");
}

#define TENSOR(offset, size, stride) TENSOR_OF("", offset, size, stride)
#define TENSOR_OF(sixth, offset, size, stride)                                                     \
    "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\n"                \
    "X\x01\0\0\0"                                                                                  \
    "0X\x03\0\0\0cpuK\x04" sixth "tQK" offset "K" size "\x85K" stride "\x85\x89"                   \
    "ccollections\nOrderedDict\n)RtR"

TEST(pickle, tensors_are_views_of_their_storage)
{
    cq_val           v;
    const cq_tensor *a, *b;

    CHECK_OK(
        UNPICKLE(&v, "\x80\x02(" TENSOR("\x01", "\x02", "\x02") TENSOR("\0", "\x04", "\x01") "t."));
    a = v.u.list->items[0].u.tensor;
    b = v.u.list->items[1].u.tensor;
    CHECK(a->storage == b->storage);
    CHECK_INT(2, cq_tensor_numel(a));
    CHECK(cq_tensor_get_f64(a, 1) == 3);
    cq_val_release(v);
}

TEST(pickle, tensors_beyond_their_storage_are_refused)
{
    cq_val v;

    CHECK_STATUS(CQ_E_FORMAT, UNPICKLE(&v, TENSOR("\x03", "\x02", "\x01") "."));
    CHECK_STATUS(CQ_E_FORMAT, UNPICKLE(&v, TENSOR("\0", "\x02", "\x04") "."));
}

/* PyTorch 1.3 and 1.4 wrote a sixth item, which they never used. */
TEST(pickle, a_storage_may_have_a_sixth_item_that_is_none)
{
    cq_val v;

    CHECK_OK(UNPICKLE(&v, TENSOR_OF("N", "\0", "\x04", "\x01") "."));
    CHECK_INT(4, cq_tensor_numel(v.u.tensor));
    cq_val_release(v);
    CHECK_STATUS(CQ_E_FORMAT, UNPICKLE(&v, TENSOR_OF("K\x01", "\0", "\x04", "\x01") "."));
}

TEST(pickle, objects_have_a_class_and_attributes)
{
    cq_val             v;
    const cq_instance *o;

    CHECK_OK(UNPICKLE(&v, "\x80\x02"
                          "c__torch__.a\nNet\n)\x81}(X\x01\0\0\0nK\x03X\x01\0\0\0sNub."));
    o = cq_instance_of(v);
    CHECK_STR("__torch__.a.Net", o->class_name);
    CHECK_INT(2, o->attrs->n);
    CHECK_INT(3, cq_dict_get_text(o->attrs, "n")->u.i.value);
    CHECK(!cq_enum_member_of(v) && !cq_quantized_of(v) && !cq_sparse_of(v));
    cq_val_release(v);
    CHECK_OK(UNPICKLE(&v, "c__torch__\nColor\nK\x02R."));
    CHECK_INT(2, cq_enum_member_of(v)->value.u.i.value);
    cq_val_release(v);
}

TEST(pickle, foreign_globals_are_refused_by_name)
{
    CHECK_REFUSED(CQ_E_UNSUPPORTED, "cos\nsystem\n(X\x02\0\0\0lstR.", "os.system");
    CHECK_REFUSED(CQ_E_UNSUPPORTED,
                  "\x8c\x08"
                  "builtins\x8c\x04"
                  "eval\x93.",
                  "builtins.eval");
    CHECK_REFUSED(CQ_E_UNSUPPORTED, "c__torch__.torch.classes.__backends__\nx\n.",
                  "was handed to a backend");
    CHECK_REFUSED(CQ_E_UNSUPPORTED, "c__torch__\nNet\n.", "stands where a value should");
}

TEST(pickle, damaged_files_are_explained)
{
    CHECK_REFUSED(CQ_E_FORMAT, "", "cut short");
    CHECK_REFUSED(CQ_E_FORMAT,
                  "X\xff\xff\xff\xff"
                  "a.",
                  "cut short");
    CHECK_REFUSED(CQ_E_FORMAT, ".", "not one value");
    CHECK_REFUSED(CQ_E_FORMAT, "NN.", "not one value");
    CHECK_REFUSED(CQ_E_FORMAT, "\x85.", "a value is missing");
    CHECK_REFUSED(CQ_E_FORMAT, "N(\x85.", "a value is missing");
    CHECK_REFUSED(CQ_E_FORMAT, "t.", "a mark is missing");
    CHECK_REFUSED(CQ_E_FORMAT, "h\x00.", "was not remembered");
    CHECK_REFUSED(CQ_E_FORMAT, "Nr\xff\xff\xff\x7f.", "not the next");
    CHECK_REFUSED(CQ_E_FORMAT, "Na.", "a value is missing");
    CHECK_REFUSED(CQ_E_FORMAT, "NNa.", "not a list");
    CHECK_REFUSED(CQ_E_FORMAT, "}(Nu.", "not a dict");
    CHECK_REFUSED(CQ_E_FORMAT, "NNR.", "not a function");
    CHECK_REFUSED(CQ_E_FORMAT, "i", "unknown opcode 0x69 at byte 0");
    CHECK_REFUSED(CQ_E_FORMAT, "}(X\x01\0\0\0aNX\x01\0\0\0aNu.", "the key a twice");
}

TEST(pickle, reference_cycles_are_refused_and_freed)
{
    cq_val v;

    CHECK_REFUSED(CQ_E_UNSUPPORTED,
                  "]q\x00h\x00"
                  "a.",
                  "contains itself");
    CHECK_REFUSED(CQ_E_UNSUPPORTED, "]q\x00}q\x01(X\x01\0\0\0ah\x00ua.", "contains itself");
    CHECK_OK(UNPICKLE(&v, "]q\x00h\x00"
                          "a0N.")); /* thrown away before the end */
    CHECK(v.kind == CQ_VAL_NONE);
}

static cq_status nested(size_t n)
{
    cq_str    s = { 0 };
    cq_val    v;
    cq_status status;

    cq_str_add(&s, "]");
    for (size_t i = 1; i < n; i++)
        cq_str_add(&s, "\x85");
    cq_str_add(&s, ".");
    status = unpickle_n(&v, s.text, s.len);
    cq_val_release(v);
    cq_str_clear(&s);
    return status;
}

TEST(pickle, depth_has_a_limit)
{
    CHECK_OK(nested(CQ_PICKLE_MAX_DEPTH));
    CHECK_STATUS(CQ_E_FORMAT, nested(CQ_PICKLE_MAX_DEPTH + 1));
    CHECK_STATUS(CQ_E_FORMAT, nested(1000000)); /* and letting go of it does not recurse */
}

TEST(pickle, size_has_a_limit)
{
    char *zeros = calloc(1, (size_t)CQ_PICKLE_MAX_SIZE + 1); /* of which only the first is read */

    CHECK(zeros != NULL);
    check_refused(CQ_E_FORMAT, zeros, CQ_PICKLE_MAX_SIZE, "unknown opcode 0x00 at byte 0");
    check_refused(CQ_E_FORMAT, zeros, (size_t)CQ_PICKLE_MAX_SIZE + 1,
                  "the pickle has 268435457 bytes, more than 268435456");
    free(zeros);
}

/* A tensor of rank n, all sizes and strides 1. */
static cq_status of_rank(int n)
{
    cq_str    s = { 0 };
    cq_val    v;
    cq_status status;

    cq_str_add(&s, "ctorch._utils\n_rebuild_tensor_v2\n((");
    cq_str_add_n(&s, "X\x07\0\0\0storage", 12);
    cq_str_add(&s, "ctorch\nFloatStorage\n");
    cq_str_add_n(&s,
                 "X\x01\0\0\0"
                 "0X\x03\0\0\0cpuK\x04tQK\0",
                 20);
    for (int k = 0; k < 2; k++) {
        cq_str_add(&s, "(");
        for (int i = 0; i < n; i++)
            cq_str_add(&s, "K\x01");
        cq_str_add(&s, "t");
    }
    cq_str_add(&s, "\x89"
                   "ccollections\nOrderedDict\n)RtR.");
    status = unpickle_n(&v, s.text, s.len);
    cq_val_release(v);
    cq_str_clear(&s);
    return status;
}

TEST(pickle, rank_has_a_limit)
{
    CHECK_OK(of_rank(CQ_MAX_RANK));
    CHECK_STATUS(CQ_E_UNSUPPORTED, of_rank(CQ_MAX_RANK + 1));
    CHECK(strstr(cq_last_error()->message, "dimensions, more than"));
}

/* Globals are named in 1023 bytes at most. */
TEST(pickle, names_have_a_limit)
{
    for (int n = 1023; n <= 1024; n++) {
        cq_str s = { 0 };
        cq_val v;

        cq_str_add(&s, "c__torch__.");
        while (s.len < (size_t)n + 1)
            cq_str_add(&s, "a");
        cq_str_add(&s, "\nNet\n)\x81.");
        CHECK_STATUS(n > 1023 ? CQ_E_FORMAT : CQ_OK, unpickle_n(&v, s.text, s.len));
        cq_val_release(v);
        cq_str_clear(&s);
    }
}

TEST(pickle, shared_values_count_with_all_their_levels)
{
    cq_str s = { 0 };
    cq_val v;

    cq_str_add(&s, "(]"); /* a tuple of a deep value, and of one around it */
    for (int i = 1; i < CQ_PICKLE_MAX_DEPTH - 2; i++)
        cq_str_add(&s, "\x85");
    cq_str_add_n(&s, "q\0h\0\x85\x85\x85\x85t.", 10);
    CHECK_STATUS(CQ_E_FORMAT, unpickle_n(&v, s.text, s.len));
    cq_str_clear(&s);
}

TEST(pickle, every_allocation_may_fail)
{
    static const char text[] = "\x80\x02(" TENSOR(
        "\0", "\x04", "\x01") "c__torch__\nA\n)\x81}X\x01\0\0\0a]K\x01"
                              "asbc__torch__\nE\nK\x02Rctorch\ndevice\nX\x03\0\0\0cpu\x85Rt.";
    cq_status status = CQ_E_NO_MEMORY;

    for (long n = 1; status == CQ_E_NO_MEMORY; n++) {
        cq_val v;

        cq_alloc_fail_at(n);
        status = UNPICKLE(&v, text);
        cq_alloc_fail_at(0);
        cq_val_release(v);
    }
    CHECK_INT(CQ_OK, status);
}

/* ---- zips ----------------------------------------------------------------------------------- */

static cq_status open_zip(cq_zip **zip, const char *data, size_t size)
{
    cq_storage *bytes;
    cq_status   status;

    CHECK_OK(cq_storage_new(&bytes, size));
    memcpy(bytes->data, data, size);
    status = cq_zip_open(zip, bytes, "<zip>");
    cq_storage_release(bytes);
    return status;
}

/* One entry "a/b" of five stored bytes; the sum of "hello" is 3610a686. */
#define LOCAL(name)                                                                                \
    "PK\3\4\x0a\0\0\0\0\0\0\0\0\0\x86\xa6\x10\x36\5\0\0\0\5\0\0\0\3\0\0\0" name "hello"
#define CENTRAL(name, method, size, offset)                                                        \
    "PK\1\2\x0a\0\x0a\0\0\0" method "\0\0\0\0\0\x86\xa6\x10\x36\5\0\0\0" size                      \
    "\0\0\0\3\0\0\0\0\0\0\0\0\0"                                                                   \
    "\0\0\0\0" offset "\0\0\0" name
#define END(n, offset)                                                                             \
    "PK\5\6\0\0\0\0" n "\0" n "\0"                                                                 \
    "\x31\0\0\0" offset "\0\0\0\0\0"

static const char good[] = LOCAL("a/b") CENTRAL("a/b", "\0", "\5", "\0") END("\1", "\x26");

TEST(zip, stored_entries_lie_in_the_file)
{
    cq_zip     *zip;
    cq_storage *s;

    CHECK_OK(open_zip(&zip, good, sizeof good - 1));
    CHECK_STR("a/", cq_zip_root(zip));
    CHECK_INT(1, cq_zip_count(zip));
    CHECK(!cq_zip_find(zip, "b"));
    CHECK_OK(cq_zip_read(&s, zip, cq_zip_find(zip, "a/b")));
    CHECK_INT(5, s->size);
    CHECK(memcmp(s->data, "hello", 5) == 0);
    CHECK_OK(cq_zip_check(zip, cq_zip_at(zip, 0), s));
    cq_zip_free(zip);
    CHECK(memcmp(s->data, "hello", 5) == 0); /* the bytes outlive the archive */
    cq_storage_release(s);
}

TEST(zip, damage_is_refused)
{
    cq_zip     *zip;
    cq_storage *s;
    char        copy[sizeof good];

    for (size_t n = 0; n < sizeof good - 1; n++) /* cut anywhere */
        CHECK_STATUS(CQ_E_FORMAT, open_zip(&zip, good, n));
    memcpy(copy, good, sizeof good);
    copy[34] = 'X'; /* a byte of the entry */
    CHECK_OK(open_zip(&zip, copy, sizeof good - 1));
    CHECK_OK(cq_zip_read(&s, zip, cq_zip_at(zip, 0)));
    CHECK_STATUS(CQ_E_FORMAT, cq_zip_check(zip, cq_zip_at(zip, 0), s));
    cq_storage_release(s);
    cq_zip_free(zip);
}

TEST(zip, duplicate_entries_are_refused)
{
    static const char twice[] = LOCAL("a/b") CENTRAL("a/b", "\0", "\5", "\0")
        CENTRAL("a/b", "\0", "\5", "\0") "PK\5\6\0\0\0\0\2\0\2\0\x62\0\0\0\x26\0\0\0\0\0";
    cq_zip *zip;

    CHECK_STATUS(CQ_E_FORMAT, open_zip(&zip, twice, sizeof twice - 1));
    CHECK(strstr(cq_last_error()->message, "there twice"));
}

/* The end of a zip64 archive that claims n entries, which do not exist. */
static cq_status claim_entries(uint32_t n)
{
    static const char zeros[16];
    const char        count[8] = { (char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24) };
    cq_str            s        = { 0 };
    cq_zip           *zip;
    cq_status         status;

    cq_str_add_n(&s, "PK\6\6\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0", 16);
    cq_str_add_n(&s, zeros, 8); /* disks */
    cq_str_add_n(&s, count, 8);
    cq_str_add_n(&s, count, 8);
    cq_str_add_n(&s, zeros, 16); /* size and offset of the directory */
    cq_str_add_n(&s, "PK\6\7\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 20);
    cq_str_add_n(&s, "PK\5\6\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0", 22);
    status = open_zip(&zip, s.text, s.len);
    if (status == CQ_OK)
        cq_zip_free(zip);
    cq_str_clear(&s);
    return status;
}

TEST(zip, entries_have_a_limit)
{
    CHECK_STATUS(CQ_E_FORMAT, claim_entries(CQ_ZIP_MAX_ENTRIES));
    CHECK(strstr(cq_last_error()->message, "is damaged"));
    CHECK_STATUS(CQ_E_FORMAT, claim_entries(CQ_ZIP_MAX_ENTRIES + 1));
    CHECK(strstr(cq_last_error()->message, "claims to have 1048577 entries, more than 1048576"));
}

/* An entry that claims, by zip64, to inflate to size bytes. */
static cq_status claim_size(uint64_t size)
{
    char        field[24] = "\1\0\x08\0"; /* id 1, eight bytes: the size */
    cq_str      s         = { 0 };
    cq_zip     *zip;
    cq_storage *bytes;
    cq_status   status;

    for (int i = 0; i < 8; i++)
        field[4 + i] = (char)(size >> 8 * i);
    cq_str_add_n(
        &s,
        "PK\3\4\x2d\0\0\0\x08\0\0\0\0\0\x86\xa6\x10\x36\5\0\0\0\xff\xff\xff\xff\3\0\0\0a/bhello",
        38);
    cq_str_add_n(&s,
                 "PK\1\2\x2d\0\x2d\0\0\0\x08\0\0\0\0\0\x86\xa6\x10\x36\5\0\0\0\xff\xff\xff\xff"
                 "\3\0\x0c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a/b",
                 49);
    cq_str_add_n(&s, field, 12);
    cq_str_add_n(&s, "PK\5\6\0\0\0\0\1\0\1\0\x3d\0\0\0\x26\0\0\0\0\0", 22);
    CHECK_OK(open_zip(&zip, s.text, s.len));
    CHECK(cq_zip_at(zip, 0)->size == size);
    status = cq_zip_read(&bytes, zip, cq_zip_at(zip, 0));
    cq_zip_free(zip);
    cq_str_clear(&s);
    return status;
}

TEST(zip, the_unpacked_size_of_entries_is_limited)
{
    CHECK_STATUS(CQ_E_FORMAT, claim_size(CQ_ZIP_MAX_INFLATED));
    CHECK(strstr(cq_last_error()->message, "5 packed bytes cannot unpack to 4294967296"));
    CHECK_STATUS(CQ_E_FORMAT, claim_size(CQ_ZIP_MAX_INFLATED + 1));
    CHECK(strstr(cq_last_error()->message, "that is more than 4294967296"));
    CHECK_STATUS(CQ_E_FORMAT, claim_size(5 * 1032 + 1031)); /* deflate packs 1032 times as much */
    CHECK(strstr(cq_last_error()->message, "the entry unpacks to 0 bytes"));
    CHECK_STATUS(CQ_E_FORMAT, claim_size(5 * 1032 + 1032));
    CHECK(strstr(cq_last_error()->message, "5 packed bytes cannot"));
}

TEST(zip, unknown_methods_are_refused)
{
    static const char odd[] = LOCAL("a/b") CENTRAL("a/b", "\x63", "\5", "\0") END("\1", "\x26");
    cq_zip           *zip;

    CHECK_STATUS(CQ_E_UNSUPPORTED, open_zip(&zip, odd, sizeof odd - 1));
}

RUN_TESTS(TEST_OF(pickle, numbers_of_all_sizes),
          TEST_OF(pickle, tensors_are_views_of_their_storage),
          TEST_OF(pickle, tensors_beyond_their_storage_are_refused),
          TEST_OF(pickle, a_storage_may_have_a_sixth_item_that_is_none),
          TEST_OF(pickle, objects_have_a_class_and_attributes),
          TEST_OF(pickle, foreign_globals_are_refused_by_name),
          TEST_OF(pickle, damaged_files_are_explained),
          TEST_OF(pickle, reference_cycles_are_refused_and_freed),
          TEST_OF(pickle, depth_has_a_limit), TEST_OF(pickle, size_has_a_limit),
          TEST_OF(pickle, rank_has_a_limit), TEST_OF(pickle, names_have_a_limit),
          TEST_OF(pickle, shared_values_count_with_all_their_levels),
          TEST_OF(pickle, every_allocation_may_fail), TEST_OF(zip, stored_entries_lie_in_the_file),
          TEST_OF(zip, damage_is_refused), TEST_OF(zip, duplicate_entries_are_refused),
          TEST_OF(zip, entries_have_a_limit), TEST_OF(zip, the_unpacked_size_of_entries_is_limited),
          TEST_OF(zip, unknown_methods_are_refused))
