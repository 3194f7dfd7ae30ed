// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_arrows.c: one end of an arrow of trace.json each.
 */
#include "chrome.h"

void chrome_write_flow(struct chrome *chrome, char phase, uint64_t id, const struct flow *flow)
{
	struct writer *writer = &chrome->writer;
	bool is_message = flow_is_message(flow, chrome->view.timeline->tracks);
	bool is_start = phase == 's';

	chrome_next(chrome);
	writer_literal(writer, "{\"ph\":\"");
	writer_char(writer, phase);
	writer_literal(writer, "\",\"id\":");
	writer_u64(writer, id);
	if (is_message) {
		writer_literal(writer, ",\"cat\":\"message\",\"name\":");
		view_write_json(&chrome->view, writer, flow->message.sync);
	} else if (flow->is_critical) {
		writer_literal(writer, ",\"cat\":\"critical_path\",\"name\":\"critical_path\"");
	} else if (flow_is_gradient(flow, chrome->view.timeline->tracks)) {
		writer_literal(writer, ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\"");
	} else {
		writer_literal(writer, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
	}
	if (!is_start)
		writer_literal(writer, ",\"bp\":\"e\"");
	fragments_write(&chrome->fragments.track_ids, is_start ? flow->from_track : flow->to_track,
	                writer);
	chrome_write_ts(chrome, is_start ? flow->from_time_ns : flow->to_time_ns);
	writer_literal(writer, ",\"args\":{");
	if (is_message) {
		writer_literal(writer, "\"group\":");
		view_write_json(&chrome->view, writer, flow->message.group);
	}
	writer_literal(writer, "}}");
}
