/* SPDX-License-Identifier: MIT */
/* A transfer that leaves something behind fails, and the next one does not (docs/properties.md, "What is checked"). */
#include "props/transfer/transfer_run.h"
#include "tests/lib/unit_test.h"

/* The model, of which a rung keeps what a sink of many pieces has left. */
#define MANY 3u

static const struct o2_rung_ops *model_ops;
static bool left;
static uint32_t opened, closed;

static int transfer(struct o2_rung *rung, const struct o2_scenario *scenario, struct o2_observed *observed,
		    struct o2_error *error)
{
	left |= scenario->sink.count >= MANY;
	return model_ops->transfer(rung, scenario, observed, error);
}

static int check_idle(struct o2_rung *rung, struct o2_error *error)
{
	return left ? o2_refuse_value(error, -EBUSY, "test/left", "left", 1, 0) : 0;
}

static int open_rung(struct o2_rung_source *source, struct o2_rung **rung, struct o2_error *error)
{
	static struct o2_rung_ops ops;
	const int rc = o2_rung_open_model(rung, error);

	assert_int_equal(rc, 0);
	model_ops = (*rung)->ops;
	ops = *model_ops;
	ops.transfer = transfer;
	ops.check_idle = check_idle;
	(*rung)->ops = &ops;
	left = false;
	opened++;
	return 0;
}

static void close_rung(struct o2_rung_source *source, struct o2_rung *rung)
{
	closed++;
	rung->ops->close(rung);
}

static struct o2_rung_source source = {open_rung, close_rung};

/* Run a transfer to a sink of so many pieces; restore the state after a failure, as the runner does. */
static bool fails(const struct o2_property *property, uint32_t pieces)
{
	struct o2_scenario *scenario = &((struct o2_transfer_run *)property->context)->scenario;
	struct o2_report report;
	enum o2_status status;

	memset(scenario, 0, sizeof(*scenario));
	scenario->max_frags = 16;
	scenario->wrq_sge = 1;
	scenario->source.vector = scenario->sink.vector = O2_KIOV;
	scenario->source.count = 1;
	scenario->source.kiov[0] = (struct o2_kiov){1, 0, pieces};
	scenario->source.nob = scenario->sink.nob = pieces;
	scenario->sink.count = pieces;
	for (uint32_t i = 0; i < pieces; i++)
		scenario->sink.kiov[i] = (struct o2_kiov){i, 0, 1};
	status = o2_transfer_scenario(property->context, &report);
	assert_int_equal(report.failed, status == O2_STATUS_INTERESTING);
	if (report.failed) {
		assert_string_equal(report.signature, "outstanding");
		property->ops->reset(property->context);
	}
	return report.failed;
}

TEST(what_a_case_has_left_goes_with_its_rung)
{
	struct o2_transfer_run run;
	struct o2_property property;
	struct o2_rung *rung;

	assert_int_equal(open_rung(&source, &rung, NULL), 0);
	assert_int_equal(o2_transfer_run_open(rung, &run), 0);
	run.source = &source;
	property = o2_transfer_property(&run);
	assert_false(fails(&property, MANY - 1));
	assert_int_equal(closed, 0);
	assert_true(fails(&property, MANY));
	assert_false(fails(&property, MANY - 1));
	assert_true(fails(&property, MANY + 1));
	assert_false(fails(&property, 1));
	assert_int_equal(opened, 3);
	assert_int_equal(closed, 2);

	/* A rung that is kept stays open, with what is left. */
	run.source = NULL;
	assert_true(fails(&property, MANY));
	assert_true(fails(&property, 1));
	assert_int_equal(closed, 2);
	rung = run.rung;
	o2_transfer_run_close(&run);
	close_rung(&source, rung);
}
