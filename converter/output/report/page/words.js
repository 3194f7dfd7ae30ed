// SPDX-License-Identifier: Apache-2.0
// What columns mean, where their names do not say all. Tables tell their own formulas (`what`).

const columnWords = {
	rank: 'Rank of the process; empty: nobody told it, or the row is about all ranks.',
	host: 'Host name, a label.',
	pid: 'Process id, as the process saw it.',
	tid: 'Thread id, as the process saw it.',
	device: 'The number that the runtime gave the device.',
	kind: 'Kind of host call or device work.',
	calls: 'How many intervals of this name there are.',
	total_ns: 'Sum of the durations, those of nested intervals included.',
	self_ns: 'Total, less the time of what is nested directly inside on the same thread.',
	mean_ns: 'total_ns / calls.',
	median_ns: 'Half of the durations are shorter.',
	stddev_ns: 'σ: standard deviation of the durations.',
	share_percent: '100 · total_ns of the row / the sum of total_ns of the same process.',
	active_ns: 'Union of all kernels: time in which at least one of them ran.',
	sum_ns: 'Sum of the durations; larger than the union where they overlap.',
	overlap_ns: 'sum_ns − active_ns.',
	elapsed_ns: 'From the first start to the last end.',
	active_percent: '100 · active_ns / elapsed_ns.',
	err_ns: 'Half-width of the error bar, the larger one of both ends; empty: there is no bound.',
	status: 'certified: follows from recorded facts; assumed: needed an assumption; outlier: evidence contradicts itself; unmatched: no evidence; given: placed by the tool that wrote the file.',
	start_ns: 'Start since the start of the trace; exact view: ns since the Unix epoch.',
	end_ns: 'End since the start of the trace; exact view: ns since the Unix epoch.',
	dur_ns: 'end_ns − start_ns.',
	period_ns: 'From the start of this step to the start of the next one.',
	wait_ns: 'From the arrival of this rank to the arrival of the last one.',
	alg_gbps: 'Algorithm bandwidth: bytes / time after the last rank arrived.',
	bus_gbps: 'Bus bandwidth: algorithm bandwidth · the factor of the operation, 2(n−1)/n for all_reduce.',
	hidden_ns: 'The part of communication under which the same device computed.',
	exposed_ns: 'Duration − hidden: communication that nothing covers.',
	freq_mhz: 'Rate of the counter, fitted to the recorded brackets.',
	ppm_vs_nominal: 'How far the rate is from the nominal one, in millionths.',
	ci_ppm: 'Confidence interval of the rate, in millionths.',
	rho_ppm: 'How far the rate may wander from its mean: what certified bounds assume.',
	certified: 'Events whose error bar follows from recorded facts alone.',
	assumed: 'Events whose place needed an assumption.',
	outliers: 'Events whose stamps contradict the other evidence.',
	half_width_ns_p50: 'Median of the error bars (half-widths).',
	half_width_ns_p99: '99 of 100 error bars are no larger.',
	half_width_ns_max: 'The largest error bar (half-width).',
	residual_ns_p50: 'Median distance of the evidence from the fit; not an error bar.',
	violations_before: 'Times at which an effect stood before its cause with the clocks as they were.',
	violations_after: 'The same after calibration; 0 where clocks can be trusted.',
	inversions_before: 'Pairs of events in the wrong order with the clocks as they were.',
	inversions_after: 'The same after calibration.',
	sync_points_used: 'Meetings of ranks (collectives, messages) that tie their clocks.',
	sync_points_dropped: 'Such meetings that contradict the others.',
	offset_ns: 'What is added to this clock to get to the common one.',
	drift_ppm: 'How much faster this clock runs, in millionths.',
	component: 'Clocks of one component are tied to each other; between two components nothing is known.',
	bytes: 'Bytes that were moved.',
	source: 'Which input and record in it the row came from.',
	depth: 'How many intervals are around this one on its thread.',
	verdict: 'slower, faster: beyond noise, and at least --min-change; unchanged: less, or noise; unknown: not repeated; added, removed: only B, or only A, has it.',
	difference_ns: 'b_total_ns − a_total_ns.',
	a_mean_ns: 'Mean time of a call in A.',
	b_mean_ns: 'Mean time of a call in B.',
	change_ns: 'b_mean_ns − a_mean_ns.',
	error_ns: 'Half of the confidence interval around change_ns; empty: not known.',
	change_percent: '100 · change_ns / a_mean_ns.',
	error_percent: '100 · error_ns / a_mean_ns.',
	a_calls: 'Calls in A; of several runs their mean.',
	b_calls: 'Calls in B; of several runs their mean.',
	a_repeats: 'Values that the interval rests on: calls, or runs.',
	b_repeats: 'Values that the interval rests on: calls, or runs.',
	correlation: 'Number that ties device work to the host call that launched it.',
};

const ends = [
	[/_p(\d+)$/, (found) => `${found[1]} of 100 values are no larger.`],
	[/^min_|_min$/, () => 'The smallest value.'],
	[/^max_|_max$/, () => 'The largest value.'],
	[/^mean_|_mean$/, () => 'Arithmetic mean.'],
	[/^median_|_median$/, () => 'Half of the values are smaller.'],
	[/^stddev_|_stddev$/, () => 'Standard deviation.'],
	[/_percent$/, () => 'A share, in hundredths.'],
];

// A sentence about a column; its name and unit where there is none.
function columnMeaning(column) {
	const found = column.what || columnWords[column.name];
	const unit = unitOf(column);
	const unitText = unit && !column.name.includes(unit) ? ` Unit: ${unit}.` : '';

	if (found)
		return `${column.name}: ${found}${unitText}`;
	for (const [pattern, words] of ends) {
		const match = column.name.match(pattern);

		if (match)
			return `${column.name}: ${words(match)}${unitText}`;
	}
	return `${column.name}${unitText ? `:${unitText}` : ''}`;
}

function headingOf(column) {
	return column.name.replace(/^[ab](?=_)/, (side) => side.toUpperCase()).replace(/_percent$/, ' %').replace(/_(ns|bytes|gbps|mhz|ppm|joules|watts)(?=_|$)/, '').replace(/_/g, ' ');
}
