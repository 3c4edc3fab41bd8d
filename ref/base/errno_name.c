/* SPDX-License-Identifier: MIT */
#include "base/errno_name.h"

#include <errno.h>
#include <stddef.h>
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
