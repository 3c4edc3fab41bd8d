/* SPDX-License-Identifier: MIT */
/* One connection attempt over the in-process connection manager: private data at its limits, and the events. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "lnd/cm/loop.h"
#include "lnd/conn/conn.h"
#include "props/talk/settings_internal.h"

#define PORT	  987u
#define ASKER	  0x0a4d0001u
#define ANSWERER  0x0a4d0002u
#define NOBODY	  0x0a4d0003u
#define TIMED_OUT 4u /* the IBA specification's reject reason "timeout" */

enum answer { ACCEPT, REJECT, DESTROY, IGNORE, ANSWERS };
/* Progress of an identifier.  Which allocation fails: of the requester, of its message, of the asked node. */
enum state { NO_ID, PENDING, CONNECTED_ID, OVER };
enum lack { ALL_THERE, NO_ASKER, NO_MESSAGE, NO_ASKED, LACKS };
#define NEITHER 2u

/* One case.  heard, expected: the events delivered to each side, as text. */
struct meeting {
	struct o2_settings_run *run;
	struct o2_report *report;
	struct o2_cm *cm[2];
	struct o2_cm_id *id[2];
	struct o2_cm_param param[2];
	uint8_t bytes[2][200]; /* private data of each side */
	size_t said;	       /* bytes of the answer */
	enum answer answer;
	int accepted;		    /* result of accepting */
	enum o2_cm_loop_message at; /* which message has the fate below */
	enum o2_cm_loop_fate fate;
	enum lack lack;
	uint32_t stuck;	     /* side whose queue pair cannot change state; or NEITHER */
	uint32_t lost;	     /* side whose device is lost from the beginning; or NEITHER */
	enum state state[2]; /* predicted state of each side */
	char heard[400], expected[400];
};

static void append(char text[400], const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, 400 - used, format, arguments);
	va_end(arguments);
}

static enum o2_cm_loop_fate fate_of(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	const struct meeting *meeting = arg;

	(void)from;
	(void)to;
	return message == meeting->at ? meeting->fate : O2_CM_LOOP_PASS;
}

/* True if the event carries what was sent, padded with zeros. */
static bool is_padded(const struct o2_cm_event *event, const uint8_t *bytes, size_t said, size_t whole)
{
	if (event->private_bytes != whole || memcmp(event->private_data, bytes, said) != 0)
		return false;
	for (size_t i = said; i < whole; i++)
		if (event->private_data[i] != 0)
			return false;
	return true;
}

static void answer(struct meeting *meeting, struct o2_cm_id *id)
{
	struct o2_error error = {0};
	struct o2_cm *cm = id->cm;

	meeting->id[1] = id;
	switch (meeting->answer) {
	case ACCEPT:
		meeting->param[1].private_bytes = meeting->said;
		meeting->accepted = cm->ops->accept(id, &meeting->param[1], &error);
		if (meeting->accepted == 0)
			break;
		if (error.rule == NULL ||
		    (meeting->said > O2_CM_REPLY_BYTES &&
		     (strcmp(error.rule, "cm/private-data") != 0 || error.value != meeting->said ||
		      error.limit != O2_CM_REPLY_BYTES)) ||
		    (meeting->said <= O2_CM_REPLY_BYTES &&
		     (meeting->accepted != -ENOMEM || meeting->stuck != 1)))
			o2_report_fail(meeting->report, "settings/cm", "accepting is refused by %s",
				       error.rule == NULL ? "nothing" : error.rule);
		cm->ops->reject(id, NULL, 0);
		break;
	case REJECT:
		cm->ops->reject(id, meeting->bytes[1], meeting->said);
		break;
	case DESTROY:
		cm->ops->destroy(id);
		meeting->id[1] = NULL;
		break;
	default:
		break;
	}
}

static void on_event(struct meeting *meeting, uint32_t side, const struct o2_cm_event *event)
{
	bool right = true;

	append(meeting->heard, "%u:%d/%" PRIu32 "/%d ", side, (int)event->type, event->reason, event->code);
	if (event->type == O2_CM_REQUEST) {
		right = is_padded(event, meeting->bytes[0], meeting->param[0].private_bytes,
				  O2_CM_REQUEST_BYTES) &&
			event->origin.ipv4 && event->origin.address == ASKER && event->origin.port < 1024;
		answer(meeting, event->id);
	} else if (event->type == O2_CM_ESTABLISHED && side == 0) {
		right = is_padded(event, meeting->bytes[1], meeting->said, O2_CM_REPLY_BYTES);
	} else if (event->type == O2_CM_REJECTED && event->reason == O2_CM_REJECT_CONSUMER &&
		   meeting->answer == REJECT) {
		right = is_padded(event, meeting->bytes[1],
				  meeting->said < O2_CM_REJECT_BYTES ? meeting->said : O2_CM_REJECT_BYTES,
				  O2_CM_REJECT_BYTES);
	}
	if (event->type == O2_CM_REJECTED || event->type == O2_CM_UNREACHABLE ||
	    event->type == O2_CM_UNRESOLVED)
		right &= event->private_bytes == (event->type == O2_CM_REJECTED ? O2_CM_REJECT_BYTES : 0);
	if (!right)
		o2_report_fail(meeting->report, "settings/cm", "event %d at %u: other private data or origin",
			       (int)event->type, side);
}

static void on_asker(void *context, const struct o2_cm_event *event)
{
	on_event(context, 0, event);
}

static void on_answerer(void *context, const struct o2_cm_event *event)
{
	on_event(context, 1, event);
}

static void expect(struct meeting *meeting, uint32_t side, enum o2_cm_event_type type, uint32_t reason,
		   int code)
{
	append(meeting->expected, "%u:%d/%" PRIu32 "/%d ", side, (int)type, reason, code);
	meeting->state[side] = type == O2_CM_REQUEST	   ? PENDING
			       : type == O2_CM_ESTABLISHED ? CONNECTED_ID
							   : OVER;
}

/* Predict a message's arrival.  False: it does not arrive; its sender may or may not be told why. */
static bool arrives(struct meeting *meeting, uint32_t side, enum o2_cm_loop_message message)
{
	if (meeting->at != message || meeting->fate == O2_CM_LOOP_PASS)
		return true;
	if (message == O2_CM_LOOP_REJECT && meeting->answer == DESTROY)
		return false; /* no side is left to be told */
	if (meeting->fate == O2_CM_LOOP_UNREACHABLE)
		expect(meeting, side, O2_CM_UNREACHABLE, 0, -ETIMEDOUT);
	else if (meeting->fate == O2_CM_LOOP_UNRESOLVED)
		expect(meeting, side, O2_CM_UNRESOLVED, 0, -EHOSTUNREACH);
	else if (meeting->fate == O2_CM_LOOP_REFUSE)
		expect(meeting, side, O2_CM_REJECTED, O2_CM_REJECT_NO_LISTENER, 0);
	return false;
}

/* Predict the events.  True: both sides end up connected. */
static bool foretell(struct meeting *meeting, const struct o2_cm_target *target)
{
	if (meeting->lack == NO_MESSAGE || !arrives(meeting, 0, O2_CM_LOOP_REQUEST))
		return false;
	if (target->address == NOBODY) {
		expect(meeting, 0, O2_CM_UNRESOLVED, 0, -EHOSTUNREACH);
		return false;
	}
	/* Nobody listens on a lost device. */
	if (target->port != PORT || meeting->lack == NO_ASKED || meeting->lost == 1) {
		expect(meeting, 0, O2_CM_REJECTED, O2_CM_REJECT_NO_LISTENER, 0);
		return false;
	}
	expect(meeting, 1, O2_CM_REQUEST, 0, 0);
	if (meeting->answer == IGNORE)
		return false;
	if (meeting->answer != ACCEPT || meeting->said > O2_CM_REPLY_BYTES || meeting->stuck == 1) {
		meeting->state[1] = OVER;
		if (arrives(meeting, 1, O2_CM_LOOP_REJECT))
			expect(meeting, 0, O2_CM_REJECTED,
			       meeting->answer == DESTROY ? TIMED_OUT : O2_CM_REJECT_CONSUMER, 0);
		return false;
	}
	if (!arrives(meeting, 1, O2_CM_LOOP_REPLY))
		return false;
	if (meeting->stuck == 0) {
		expect(meeting, 0, O2_CM_CONNECT_ERROR, 0, -ENOMEM);
		if (arrives(meeting, 0, O2_CM_LOOP_REJECT))
			expect(meeting, 1, O2_CM_REJECTED, O2_CM_REJECT_CONSUMER, 0);
		return false;
	}
	expect(meeting, 0, O2_CM_ESTABLISHED, 0, 0);
	if (!arrives(meeting, 0, O2_CM_LOOP_READY))
		return false;
	expect(meeting, 1, O2_CM_ESTABLISHED, 0, 0);
	return true;
}

static int fault_of(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	const struct meeting *meeting = arg;

	return call == O2_LOOP_CALL_MODIFY && meeting->stuck != NEITHER &&
			       qp_num == meeting->param[meeting->stuck].qp->qp_num
		       ? ENOMEM
		       : 0;
}

static void lack(const struct meeting *meeting, uint32_t nth)
{
	if (meeting->lack != ALL_THERE)
		meeting->run->fail_allocation(nth);
}

static void deliver_all(struct o2_cm_loop *loop, struct o2_choice *c)
{
	while (o2_cm_loop_deliver(
		loop, o2_draw_pick(c, o2_cm_loop_choices(loop) + (o2_cm_loop_choices(loop) == 0))))
		;
}

static void compare(struct meeting *meeting)
{
	if (strcmp(meeting->heard, meeting->expected) != 0)
		o2_report_fail(meeting->report, "settings/cm", "heard %s, expected %s", meeting->heard,
			       meeting->expected);
}

static void check_pairs(struct meeting *meeting)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	for (uint32_t i = 0; i < 2; i++)
		if (ibv_query_qp(meeting->param[i].qp, &attr, IBV_QP_STATE, &init) != 0 ||
		    attr.qp_state != IBV_QPS_RTS || attr.dest_qp_num != meeting->param[1 - i].qp->qp_num ||
		    attr.retry_cnt != meeting->param[i].retry_count ||
		    attr.rnr_retry != meeting->param[i].rnr_retry_count ||
		    attr.timeout != meeting->param[i].ack_timeout)
			o2_report_fail(meeting->report, "settings/cm", "queue pair %u is in state %d", i,
				       (int)attr.qp_state);
}

static void leave(struct meeting *meeting, struct o2_cm_loop *loop, struct o2_choice *c)
{
	const uint32_t who = (uint32_t)o2_draw(c, 1);

	for (int twice = 0; twice < 2; twice++)
		meeting->cm[who]->ops->disconnect(meeting->id[who]);
	deliver_all(loop, c);
	expect(meeting, 1 - who, O2_CM_DISCONNECTED, 0, 0);
	expect(meeting, who, O2_CM_DISCONNECTED, 0, 0);
}

/* The device of one side is lost: that side is told at once, and cannot listen any more. */
static void lose_device(struct meeting *meeting, uint32_t side)
{
	struct o2_cm *cm = meeting->cm[side];
	struct o2_error error = {0};

	meeting->lost = side;
	o2_cm_loop_lose_device(cm);
	expect(meeting, side, O2_CM_DEVICE_LOST, 0, -ENODEV);
	if (cm->ops->listen(cm, PORT, &error) != -ENODEV || error.rule == NULL ||
	    strcmp(error.rule, "cm/device-lost") != 0)
		o2_report_fail(meeting->report, "settings/cm", "listening on a lost device");
}

static void meet(struct meeting *meeting, struct o2_cm_loop *loop, struct o2_choice *c)
{
	struct o2_cm_target target = {.address = o2_draw_bool(c, 7, 1) ? NOBODY : ANSWERER,
				      .port = o2_draw_bool(c, 7, 1) ? PORT + 1 : PORT};
	struct o2_error error = {0};
	int rc, expected = 0;
	const char *rule = NULL;

	meeting->param[0].private_bytes =
		o2_draw_bool(c, 3, 1) ? O2_CM_REQUEST_BYTES + o2_draw(c, 1) : o2_draw(c, O2_CM_REQUEST_BYTES);
	meeting->lost = NEITHER;
	if (o2_draw_bool(c, 7, 1))
		lose_device(meeting, (uint32_t)o2_draw(c, 1));
	if (meeting->lost == 0) {
		expected = -ENODEV;
		rule = "cm/device-lost";
	}
	if (meeting->lack == NO_ASKER && meeting->lost != 0) {
		expected = -ENOMEM;
		rule = "cm/memory";
	}
	if (meeting->param[0].private_bytes > O2_CM_REQUEST_BYTES) {
		expected = -EINVAL;
		rule = "cm/private-data";
	}
	lack(meeting, meeting->lack == NO_ASKED ? 0 : meeting->lack);
	rc = meeting->cm[0]->ops->connect(meeting->cm[0], &target, &meeting->param[0], meeting,
					  &meeting->id[0], &error);
	if (rc != expected || (rc != 0 && strcmp(error.rule, rule) != 0))
		o2_report_fail(meeting->report, "settings/cm", "connecting: %d by %s, expected %d", rc,
			       rc == 0 ? "nothing" : error.rule, expected);
	meeting->run->tally.seen[rc == 0 ? O2_SETTINGS_ASKED : O2_SETTINGS_NOT_ASKED]++;
	meeting->run->tally.seen[O2_SETTINGS_NO_MEMORY] += rc == -ENOMEM;
	lack(meeting, 0);
	if (rc != 0 || meeting->report->failed)
		return;
	meeting->state[0] = PENDING;
	/* The request arrives first, and needs only a new identifier. */
	lack(meeting, meeting->lack == NO_ASKED ? 1 : 0);
	o2_cm_loop_deliver(loop, 0);
	lack(meeting, 0);
	deliver_all(loop, c);
	if (foretell(meeting, &target) && !meeting->report->failed &&
	    strcmp(meeting->heard, meeting->expected) == 0) {
		meeting->run->tally.seen[O2_SETTINGS_MET]++;
		check_pairs(meeting);
		/* Else one side goes away without a word. */
		if (o2_draw_bool(c, 1, 2))
			leave(meeting, loop, c);
	}
}

/* One side closes: the other is told once if it waits for it, but not if the device of the first was lost. */
static void part(struct meeting *meeting, struct o2_cm_loop *loop, struct o2_choice *c)
{
	const uint32_t first = (uint32_t)o2_draw(c, 1);
	const bool lost = o2_draw_bool(c, 7, 1), other = meeting->id[1 - first] != NULL;

	if (meeting->id[first] == NULL)
		return;
	if (lost && meeting->state[first] != NO_ID) {
		o2_cm_loop_lose_device(meeting->cm[first]);
		append(meeting->expected, "%u:%d/0/%d ", first, (int)O2_CM_DEVICE_LOST, -ENODEV);
		/* Nothing can be sent any more. */
		meeting->cm[first]->ops->disconnect(meeting->id[first]);
		deliver_all(loop, c);
	} else if (meeting->state[first] == PENDING && other && meeting->state[1] != NO_ID) {
		if (meeting->at != O2_CM_LOOP_REJECT || meeting->fate == O2_CM_LOOP_PASS)
			expect(meeting, 1 - first, O2_CM_REJECTED, TIMED_OUT, 0);
	} else if (meeting->state[first] == CONNECTED_ID && other) {
		expect(meeting, 1 - first, O2_CM_DISCONNECTED, 0, 0);
	}
	meeting->cm[first]->ops->destroy(meeting->id[first]);
	meeting->id[first] = NULL;
	deliver_all(loop, c);
}

static void draw(struct meeting *meeting, struct o2_choice *c)
{
	for (uint32_t i = 0; i < 2; i++) {
		meeting->param[i] = (struct o2_cm_param){.qp = meeting->param[i].qp,
							 .retry_count = (uint8_t)o2_draw(c, 6),
							 .rnr_retry_count = (uint8_t)o2_draw(c, 6),
							 .ack_timeout = (uint8_t)o2_draw(c, 31),
							 .private_data = meeting->bytes[i]};
		for (size_t k = 0; k < sizeof(meeting->bytes[i]); k++)
			meeting->bytes[i][k] = (uint8_t)(1 + k + 100 * i);
	}
	meeting->answer = (enum answer)o2_draw_weighted(c, (const uint32_t[]){6, 2, 1, 1}, ANSWERS);
	meeting->said =
		o2_draw_bool(c, 3, 1) ? O2_CM_REPLY_BYTES + o2_draw(c, 1) : o2_draw(c, O2_CM_REPLY_BYTES);
	meeting->fate = (enum o2_cm_loop_fate)(o2_draw_bool(c, 2, 1) ? o2_draw(c, O2_CM_LOOP_REFUSE) : 0);
	meeting->at = (enum o2_cm_loop_message)o2_draw(c, O2_CM_LOOP_READY);
	meeting->stuck = o2_draw_bool(c, 7, 1) ? (uint32_t)o2_draw(c, 1) : NEITHER;
	if (meeting->run->fail_allocation != NULL && o2_draw_bool(c, 7, 1))
		meeting->lack = (enum lack)o2_draw_range(c, NO_ASKER, LACKS - 1);
}

void o2_settings_meet(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const struct o2_conn_ops ops;
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct meeting meeting = {.run = run, .report = report};
	struct o2_cm_loop *loop = o2_cm_loop_create();
	struct o2_conn *conn[2] = {NULL, NULL};
	struct o2_error error = {0};
	struct o2_cm *third = NULL;

	config.max_frags = 4;
	for (uint32_t i = 0; i < 2; i++) {
		if (o2_conn_create(&run->ni[i], &config, &ops, run, &conn[i], &error) != 0 ||
		    o2_cm_loop_attach(loop, &run->ni[i], i == 0 ? ASKER : ANSWERER, &meeting.cm[i], &error) !=
			    0) {
			o2_report_fail(report, "settings/cm", "%s", error.rule);
			break;
		}
		meeting.param[i].qp = o2_conn_qp(conn[i]);
		meeting.cm[i]->handler = i == 0 ? on_asker : on_answerer;
		meeting.cm[i]->context = &meeting;
	}
	if (!report->failed) {
		if (o2_cm_loop_attach(loop, &run->ni[0], ASKER, &third, &error) != -EADDRINUSE)
			o2_report_fail(report, "settings/cm", "an address is given twice");
		draw(&meeting, c);
		lack(&meeting, 1);
		if (meeting.lack != ALL_THERE &&
		    (o2_cm_loop_attach(loop, &run->ni[0], NOBODY, &third, &error) != -ENOMEM ||
		     strcmp(error.rule, "cm/memory") != 0))
			o2_report_fail(report, "settings/cm", "a third is there without memory");
		lack(&meeting, 0);
		snprintf(run->text, sizeof(run->text),
			 "a meeting: answer %d, %zu bytes, message %d with fate %d", (int)meeting.answer,
			 meeting.said, (int)meeting.at, (int)meeting.fate);
		o2_cm_loop_set_fate(loop, fate_of, &meeting);
		meeting.cm[1]->ops->listen(meeting.cm[1], PORT, &error);
		o2_loop_set_fault(fault_of, &meeting);
		meet(&meeting, loop, c);
		if (!report->failed)
			compare(&meeting);
		if (!report->failed)
			part(&meeting, loop, c);
		o2_loop_set_fault(NULL, NULL);
		if (!report->failed)
			compare(&meeting);
	}
	for (uint32_t i = 0; i < 2; i++)
		if (meeting.id[i] != NULL)
			meeting.cm[i]->ops->destroy(meeting.id[i]);
	for (uint32_t i = 0; i < 2; i++) {
		if (meeting.cm[i] != NULL)
			o2_cm_loop_detach(meeting.cm[i]);
		o2_conn_destroy(conn[i]);
	}
	o2_cm_loop_destroy(loop);
}
