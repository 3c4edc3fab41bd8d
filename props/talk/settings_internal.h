/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SETTINGS_INTERNAL_H
#define O2_PROPS_SETTINGS_INTERNAL_H

#include "props/talk/settings.h"

/* What the files of the property settings share. */

#define O2_SETTINGS_SITUATION_LIST(ENTRY)         \
	ENTRY(NI_OPENED, "interface_opened")      \
	ENTRY(NI_REFUSED, "interface_refused")    \
	ENTRY(CONN_MADE, "connection_made")       \
	ENTRY(CONN_REFUSED, "connection_refused") \
	ENTRY(PEER_TAKEN, "peer_taken")           \
	ENTRY(PEER_REFUSED, "peer_refused")       \
	ENTRY(LIMITS_SET, "limits_set")           \
	ENTRY(LIMITS_REFUSED, "limits_refused")   \
	ENTRY(CONNECTED, "connected")             \
	ENTRY(NOT_CONNECTED, "not_connected")     \
	ENTRY(TWICE, "connected_twice")           \
	ENTRY(O2_SETTINGS_ASKED, "asked")         \
	ENTRY(O2_SETTINGS_NOT_ASKED, "not_asked") \
	ENTRY(O2_SETTINGS_MET, "met")

enum o2_settings_situation { O2_SETTINGS_SITUATION_LIST(O2_SITUATION_ID) O2_SETTINGS_SITUATIONS };

/* One attempt to connect over the connection manager in the process. */
void o2_settings_meet(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);

#endif
