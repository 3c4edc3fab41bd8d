/* SPDX-License-Identifier: MIT */
#include "base/errno_name.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * A stage's errno is sent as a status on the wire unchanged.  On the wire it has the number that nearly all Linux
 * machines use (docs/wire.md).  Some (MIPS, SPARC, Alpha, PA-RISC) use others.
 */
static_assert(EIO == 5 && EAGAIN == 11 && ENOMEM == 12 && EFAULT == 14 && EBUSY == 16 && EINVAL == 22 &&
		      EFBIG == 27 && ENOSPC == 28,
	      "numbers of the wire");
static_assert(ENODATA == 61 && EPROTO == 71 && EMSGSIZE == 90 && EPROTONOSUPPORT == 93 &&
		      EAFNOSUPPORT == 97 && ENETDOWN == 100 && ENOBUFS == 105 && ETIMEDOUT == 110 &&
		      ESTALE == 116,
	      "numbers of the wire");

static const struct {
	int code;
	const char *name;
} names[] = {
	{EACCES, "EACCES"},
	{EAFNOSUPPORT, "EAFNOSUPPORT"},
	{EAGAIN, "EAGAIN"},
	{EALREADY, "EALREADY"},
	{EBUSY, "EBUSY"},
	{ECONNABORTED, "ECONNABORTED"},
	{ECONNREFUSED, "ECONNREFUSED"},
	{ECONNRESET, "ECONNRESET"},
	{EFAULT, "EFAULT"},
	{EFBIG, "EFBIG"},
	{EHOSTUNREACH, "EHOSTUNREACH"},
	{EINVAL, "EINVAL"},
	{EIO, "EIO"},
	{EMSGSIZE, "EMSGSIZE"},
	{ENETDOWN, "ENETDOWN"},
	{ENOENT, "ENOENT"},
	{ENOMEM, "ENOMEM"},
	{ENOSPC, "ENOSPC"},
	{ENOTCONN, "ENOTCONN"},
	{ENOTSUP, "ENOTSUP"},
	{EPERM, "EPERM"},
	{EPROTO, "EPROTO"},
	{EPROTONOSUPPORT, "EPROTONOSUPPORT"},
	{ESHUTDOWN, "ESHUTDOWN"},
	{ESTALE, "ESTALE"},
	{ETIMEDOUT, "ETIMEDOUT"},
};

/* The kernel's own limit: a number further from zero is no errno. */
#define ERRNO_MAX 4095

#define NAMES (sizeof(names) / sizeof(names[0]))

const char *o2_errno_name(int code)
{
	for (size_t i = 0; i < NAMES; i++) {
		if (code == names[i].code || code == -names[i].code)
			return names[i].name;
	}
	return NULL;
}

int o2_errno_from_name(const char *name)
{
	for (size_t i = 0; i < NAMES; i++) {
		if (strcmp(name, names[i].name) == 0)
			return names[i].code;
	}
	return 0;
}

const char *o2_errno_symbol(int64_t code)
{
	/* The C library also has a name for 0, which is no error. */
	if (code == 0 || code < -ERRNO_MAX || code > ERRNO_MAX)
		return NULL;
	return strerrorname_np((int)(code < 0 ? -code : code));
}

const char *o2_errno_text(int64_t code, char text[O2_ERRNO_TEXT_BYTES])
{
	const char *symbol = o2_errno_symbol(code);

	if (symbol != NULL)
		return symbol;
	snprintf(text, O2_ERRNO_TEXT_BYTES, "errno %" PRIu64, code < 0 ? -(uint64_t)code : (uint64_t)code);
	return text;
}
