/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SIM_RECORD_H
#define O2_PROPS_SIM_RECORD_H

#include "props/talk/sim_internal.h"

/* Error records of the simulation's operations and connections, against what its model foretells. */

/* Is this end the one predicted to refuse the operation?  The other end learns of the refusal by a message. */
bool o2_sim_refuses(const struct o2_sim_op *op, const struct o2_sim_end *end);
/* Is the error record right for an operation refused at its start with the predicted code? */
bool o2_sim_record_of_start(const struct o2_sim_op *op, int code, const struct o2_error *error);
/* The same for an operation that has ended at this end. */
bool o2_sim_record_of_end(const struct o2_sim_end *end, const struct o2_sim_op *op,
			  const struct o2_transfer_result *result);
/* The same for a connection that has closed. */
bool o2_sim_record_of_close(const struct o2_transfer_fault *fault);

#endif
