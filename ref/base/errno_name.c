/* SPDX-License-Identifier: MIT */
#include "base/errno_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* The kernel's own limit: what is further from zero is no errno. */
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
	/* The C library names 0 as well, which is no error. */
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
