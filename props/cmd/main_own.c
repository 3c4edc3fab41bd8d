/* SPDX-License-Identifier: MIT */
#include "props/cmd/main_own.h"

#include <stdio.h>
#include <string.h>

#include "props/check/forms.h"
#include "props/check/hosts.h"
#include "props/cmd/rung_open.h"
#include "props/command/commands.h"
#include "props/command/wrap/pcap.h"
#include "props/hostile/hostile_random.h"
#include "props/judge/verdicts.h"
#include "props/lnet/endpoints.h"
#include "props/lst/lst.h"
#include "props/stage/codec.h"
#include "props/stage/dma.h"
#include "props/stage/keys.h"
#include "props/stage/parts.h"
#include "props/stage/pools.h"
#include "props/stage/rdma.h"
#include "props/stage/reg_plan.h"
#include "props/stage/sg.h"
#include "props/talk/nodes.h"
#include "props/talk/settings.h"
#include "props/talk/sim.h"
#include "props/talk/wrap/alloc_fault.h"
#include "props/talk/wrap/exec.h"
#include "props/transfer/transfer_run.h"
#include "props/verbs/verbs.h"

/* What nodes run on in this program: in-process devices, or the devices of the command line. */
#ifdef O2_PROPS_IN_PROCESS
#define GROUND (&o2_ground_on_loop)
#else
#define GROUND (&o2_ground_on_kernel)
#endif

struct o2_ground_devices *o2_own_devices(struct o2_props_arguments *a)
{
	static struct o2_ground_devices devices;

#ifdef O2_PROPS_IN_PROCESS
	(void)a;
#else
	o2_rung_devices(a, devices.device, &devices.gid_index);
#endif
	return &devices;
}

#ifdef O2_PROPS_IN_PROCESS
static const struct o2_command_memory memory = {.fail = o2_alloc_fault_arm,
						.failed = o2_alloc_fault_fired,
						.hold = o2_alloc_fault_hold,
						.go_on = o2_alloc_fault_go_on,
						.live = o2_alloc_live,
						.pcap_live = o2_pcap_live,
						.exec_as = o2_exec_as,
						.lacks_pipe = o2_exec_lacks_pipe,
						.lacks_process = o2_exec_lacks_process,
						.lacks_stream = o2_exec_lacks_stream};
#endif

#ifdef O2_PROPS_IN_PROCESS
#define FAILS_AND_COUNTS                                                   \
	.fail_allocation = o2_alloc_fault_arm, .allocated = o2_alloc_live, \
	.lacks_process = o2_exec_lacks_process
#define FAILS_AND_SAYS .fail_allocation = o2_alloc_fault_arm, .allocation_failed = o2_alloc_fault_fired
#define ALLOCATIONS    FAILS_AND_SAYS, .allocated = o2_alloc_live
#define OWN_MEMORY     .command.memory = &memory
#else
/* This program cannot make allocations fail. */
#define FAILS_AND_COUNTS .fail_allocation = NULL
#define FAILS_AND_SAYS	 .fail_allocation = NULL
#define ALLOCATIONS	 .fail_allocation = NULL
#define OWN_MEMORY	 .command.memory = NULL
#endif

/* The i-th property that provides its own devices. */
static struct o2_property own_property(struct o2_props_arguments *a, size_t i)
{
	static struct o2_codec_run codec;
	static struct o2_keys_run keys;
	static struct o2_pools_run pools;
	static struct o2_dma_run dma;
	static struct o2_plan_run plan;
	static struct o2_sg_run sg;
	static struct o2_rdma_run rdma;
	static struct o2_nodes_run nodes = {.ground = GROUND};
	static struct o2_forms_run forms = {ALLOCATIONS};
	static struct o2_parts_run parts;
	static struct o2_endpoints_run endpoints = {.ground = GROUND};
	static struct o2_verdicts_run verdicts = {FAILS_AND_SAYS};
	static struct o2_commands_run commands = {OWN_MEMORY};
	static struct o2_lst_run lst = {ALLOCATIONS};
	static struct o2_hosts_run hosts = {FAILS_AND_COUNTS};
#ifdef O2_PROPS_IN_PROCESS
	static struct o2_sim_run sim;
	static struct o2_hostile_run hostile;
	static struct o2_verbs_run verbs = {ALLOCATIONS};
	static struct o2_settings_run settings = {ALLOCATIONS};
#endif
	const struct o2_property all[] = {
		o2_codec_property(&codec),
		o2_keys_property(&keys),
		o2_pools_property(&pools),
		o2_sg_property(&sg),
		o2_dma_property(&dma),
		o2_plan_property(&plan),
		o2_rdma_property(&rdma),
		o2_nodes_property(&nodes),
		o2_forms_property(&forms),
		o2_parts_property(&parts),
		o2_endpoints_property(&endpoints),
		o2_verdicts_property(&verdicts),
		o2_commands_property(&commands),
		o2_lst_property(&lst),
		o2_hosts_property(&hosts),
#ifdef O2_PROPS_IN_PROCESS
		/* These need loopverbs in this process. */
		o2_sim_property(&sim),
		o2_hostile_property(&hostile),
		o2_verbs_property(&verbs),
		o2_settings_property(&settings),
#endif
	};

	if (i >= sizeof(all) / sizeof(all[0]))
		return (struct o2_property){0};
	if (all[i].context == &nodes || all[i].context == &endpoints)
		nodes.devices = endpoints.devices = o2_own_devices(a);
	return all[i];
}

struct o2_property o2_own_find(struct o2_props_arguments *a, const char *name, size_t length_bytes)
{
	struct o2_property property;
	size_t i = 0;

	do
		property = own_property(a, i++);
	while (property.ops != NULL && (strlen(property.ops->name) != length_bytes ||
					strncmp(property.ops->name, name, length_bytes) != 0));
	return property;
}

int o2_own_list(struct o2_props_arguments *a)
{
	struct o2_property property = o2_transfer_property(NULL);

	for (size_t i = 0; property.ops != NULL; property = own_property(a, i++))
		printf("%s\t%s\n", property.ops->name, property.ops->summary);
	return 0;
}
