// SPDX-License-Identifier: Apache-2.0
// Sections about ranks, devices and clocks: losses, communication, waits, cores, clocks, alignment, launches, critical path.

const warningColumns = ['id', 'count', 'remedy'];

function buildLosses() {
	const warnings = run.warnings || [];
	const made = [];

	if (warnings.length)
		made.push(new TableView(new Table('warnings', {
			title: 'Warnings', what: 'What the conversion doubted, and what to do about it (run.json).', file: 'run.json',
			columns: warningColumns.map((name) => ({name, type: name === 'count' ? 'integer' : 'text'})),
			rows: warnings.map((warning) => warningColumns.map((name) => warning[name])),
		})).build(true));
	if (run.closes === false)
		made.push(element('p', {class: 'failed'}, 'The books do not close: run.json says which records are unaccounted for.'));
	return [...made, tableView('losses'), tableView('emitted', false)];
}

function hasLosses() {
	return (run.warnings || []).length > 0 || countLost() > 0 || run.closes === false;
}

// -- communication ------------------------------------------------------------------------------------------

function hiddenBars() {
	const table = ['communication', 'overlap', 'breakdown'].map((name) => tables.get(name)).find((of) => of && of.oneOf('hidden_ns') && of.oneOf('exposed_ns'));

	if (!table)
		return null;

	const sums = [...groupRows(table.ownRows(), (row) => ownerOf(table, row))].slice(0, 64);

	return figure('Hidden and exposed', `Hidden: time of communication under which the same device computed. Exposed: the rest; hidden + exposed = duration. ${table.what}${cutNote(table)}`,
		stackedBars(sums.map(([name, rows]) => ({name, parts: [{name: 'exposed', part: 1, value: table.sum('exposed_ns', rows)},
			{name: 'hidden', part: 0, value: table.sum('hidden_ns', rows)}]}))));
}

function waitBars() {
	const waits = waitsByRank();

	if (!waits || !(waits.sums[0].value > 0))
		return null;
	return figure('Wait of each rank', `Sum of ${waits.column} in ${waits.table.file}: from a rank's arrival to that of the last rank. The rank that waits least is the one that others wait for.${cutNote(waits.table)}`,
		barList(waits.sums.slice(0, 64).map((sum) => ({name: sum.key, value: sum.value, text: formatNs(sum.value), tip: `${sum.value} ns`}))));
}

// A chart of points by size, a series for each operation.
function bySize(table, column, title, formatY, labelY) {
	if (!table || !table.has('bytes', column))
		return null;

	const rows = table.ownRows().filter((row) => table.number(row, 'bytes') > 0 && table.number(row, column) > 0);
	const op = table.oneOf('op', 'kind', 'name');
	const groups = [...groupRows(rows, (row) => op ? table.text(row, op) : '')].slice(0, maxLines);
	const listed = groups.flatMap(([, of], series) => of.map((row) => ({row, series}))).sort((a, b) => table.number(a.row, 'bytes') - table.number(b.row, 'bytes'));

	if (!listed.length)
		return null;
	return figure(title, `${columnMeaning(table.column(column))} Each point is a row of ${table.file}; both scales are of decades.${cutNote(table)}`, drawChart({
		names: groups.map(([name]) => name || 'communication'), logX: true, logY: true, formatX: (x) => formatSteps(x, 'bytes'), formatY, labelX: 'size', labelY,
		points: listed.map(({row, series}) => [table.number(row, 'bytes'), ...groups.map((_, i) => i === series ? table.number(row, column) : null)]),
		text: `${title}: ${formatCount(listed.length, 'point')}`,
		hover: (i, shown) => `${groups[listed[i].series][0]} of ${ownerOf(table, listed[i].row)}, ${formatSteps(shown[0].xval, 'bytes')}: ${formatY(shown[0].yval)}`,
	}));
}

const formatRate = (value) => `${formatNumber(Number(value.toPrecision(3)))} GB/s`;

function buildCommunication() {
	const rates = ['communication', 'collectives'].map((name) => tables.get(name)).find((table) => table && table.oneOf('bus_gbps', 'bus_gbps_mean') && table.has('bytes'));

	return [element('div', {class: 'pair'}, hiddenBars(), waitBars()),
		rates ? bySize(rates, rates.oneOf('bus_gbps', 'bus_gbps_mean'), 'Bus bandwidth by size', formatRate, 'bus bandwidth') : null,
		...tableViews(2, 'stragglers', 'communication', 'collectives', 'communication_matrix', 'bandwidth')];
}

function buildWaits() {
	const table = tables.get('collectives');
	const waits = table.ownRows().map((row) => table.number(row, 'wait_ns'));

	return [element('div', {class: 'pair'}, figure('How long ranks waited', `wait_ns of each rank in each collective, in steps of equal ratio. ${columnMeaning(table.column('wait_ns'))}${cutNote(table)}`,
		histogram(waits, formatNs)), bySize(table, 'wait_ns', 'Wait by size', formatNs, 'wait'))];
}

// -- cores --------------------------------------------------------------------------------------------------

const maxStrips = 96;

function buildCores() {
	const table = tables.get('events');
	const processor = table.oneOf('processor', 'thread', 'unit');
	const rows = table.rows.filter((row) => table.cell(row, 'core') !== null && table.time(row, 'end_ns') >= table.time(row, 'start_ns'));
	const nameOf = (row) => `${ownerOf(table, row)}, core ${table.text(row, 'core')}${processor && table.text(row, processor) ? ` ${table.text(row, processor)}` : ''}`;
	const groups = [...groupRows(rows, nameOf)].sort((a, b) => a[0].localeCompare(b[0], 'en', {numeric: true}));
	const strips = groups.slice(0, maxStrips).map(([name, of]) => ({name, rows: of.map((row) => ({
		start: table.time(row, 'start_ns'), end: table.time(row, 'end_ns'), name: table.text(row, 'name'),
		tip: `${name}: ${table.text(row, 'kind')} ${table.text(row, 'name')}, ${formatNs(table.number(row, 'dur_ns'))}${table.text(row, 'err_ns') ? ` ± ${formatNs(table.number(row, 'err_ns'))}` : ''} (${table.text(row, 'status')})`,
	}))}));

	return [new StripsView('Cores and processors', `Runs, kernels and zones of each core, from ${table.file}, those inside of others below them. Drag, or Ctrl and the wheel, zooms; + − and arrows do so by keyboard.${cutNote(table)}`, strips).element,
		groups.length > maxStrips ? element('p', {}, `${formatCount(groups.length - maxStrips, 'more strip')} are in ${table.file}.`) : null];
}

// -- clocks -------------------------------------------------------------------------------------------------

function clockName(table, row) {
	const isOneDomain = !table.has('domain') || table.rows.every((other) => table.text(other, 'domain') === table.text(table.rows[0], 'domain'));

	return `${ownerOf(table, row)}${!isOneDomain ? `, domain ${table.text(row, 'domain')}` : ''}${Number(table.text(row, 'segment')) ? `, segment ${table.text(row, 'segment')}` : ''}`;
}

function widthBars(table, title, what) {
	const rows = table.rows.filter((row) => Number.isFinite(table.number(row, 'half_width_ns_p50')) && table.number(row, 'half_width_ns_max') > 0).slice(0, 64);

	if (!rows.length)
		return null;
	return figure(title, `${what}${cutNote(table)}`, errorBars(rows.map((row) => ({
		name: clockName(table, row), low: table.number(row, 'half_width_ns_p50'), middle: table.number(row, 'half_width_ns_p99'), high: table.number(row, 'half_width_ns_max'),
		text: `± ${formatNs(table.number(row, 'half_width_ns_max'))}`,
		tip: `median ± ${formatNs(table.number(row, 'half_width_ns_p50'))}, 99 of 100 within ± ${formatNs(table.number(row, 'half_width_ns_p99'))}, largest ± ${formatNs(table.number(row, 'half_width_ns_max'))}`,
	}))));
}

function rateBars(table) {
	const rows = table.rows.filter((row) => Number.isFinite(table.number(row, 'freq_mhz'))).slice(0, 64);

	if (!rows.length)
		return null;
	return figure('Rates', 'freq_mhz: fitted to the recorded brackets; ± ci_ppm: its confidence; ppm_vs_nominal: distance from the nominal rate.', element('ul', {class: 'plain'}, rows.map((row) =>
		element('li', {}, element('strong', {}, clockName(table, row)), `: ${table.text(row, 'freq_mhz')} MHz`,
			table.text(row, 'ci_ppm') ? ` ± ${formatNumber(table.number(row, 'ci_ppm'))} ppm` : '',
			table.text(row, 'ppm_vs_nominal') ? `, ${formatNumber(table.number(row, 'ppm_vs_nominal'))} ppm from nominal` : ''))));
}

function violationBars(table) {
	const rows = table.rows.filter((row) => table.number(row, 'violations_before') + table.number(row, 'violations_after') > 0).slice(0, 64);

	if (!rows.length)
		return null;
	return figure('Violations of causality, before and after', 'How often an effect stood before its cause, with the clocks as they were and after calibration. 0 after: what is drawn is possible.',
		barList(rows.flatMap((row) => ['before', 'after'].map((when) => {
			const n = table.number(row, `violations_${when}`);

			return {name: `${when}: ${clockName(table, row)}`, value: n, text: formatNumber(n), tip: columnMeaning(table.column(`violations_${when}`))};
		}))));
}

function buildClocks() {
	const table = tables.get('clocks');

	return [element('div', {class: 'pair'}, widthBars(table, 'Error bars', 'Half-widths of the error bars of device times, on a scale of decades: from the median to the largest; the dot: 99 of 100 are no larger.'),
		violationBars(table)), rateBars(table), tableView('clocks')];
}

function buildAlignment() {
	const table = tables.get('alignment');
	const rows = table.rows.filter((row) => Number.isFinite(table.number(row, 'residual_ns_p50')) && table.number(row, 'residual_ns_max') > 0).slice(0, 64);
	const residuals = rows.length ? figure('Residuals', 'Distance of what ties ranks (collectives, messages) from the common clock: from the median to the largest, on a scale of decades; the dot: 99 of 100 are no larger.',
		errorBars(rows.map((row) => ({name: ownerOf(table, row), low: table.number(row, 'residual_ns_p50'), middle: table.number(row, 'residual_ns_p99'), high: table.number(row, 'residual_ns_max'),
			text: formatNs(table.number(row, 'residual_ns_max')), tip: `median ${formatNs(table.number(row, 'residual_ns_p50'))}, largest ${formatNs(table.number(row, 'residual_ns_max'))}`})))) : null;
	const isOneHost = table.rows.every((row) => !table.number(row, 'sync_points_used'));

	return [isOneHost ? element('p', {}, 'All processes share one host clock, or nothing ties theirs: no clock was moved.') : null,
		element('div', {class: 'pair'}, widthBars(table, 'Error bars of alignment', 'Half-widths of what each rank was moved by, on a scale of decades: median to largest.'), residuals), tableView('alignment')];
}

// -- launches and the critical path -------------------------------------------------------------------------

function buildLaunches() {
	const table = tables.get('launches');
	const made = [];

	if (table && table.has('name', 'min_ns', 'median_ns', 'max_ns')) {
		const rows = table.ownRows().filter((row) => table.text(row, 'name') && table.number(row, 'max_ns') > 0)
			.sort((a, b) => table.number(b, 'total_ns') - table.number(a, 'total_ns')).slice(0, maxBars);

		if (rows.length)
			made.push(figure('From launch to start', `How long work took to begin after the call that launched it, by name of the call, on a scale of decades: from the shortest to the longest; the dot: the median. ${table.what}${cutNote(table)}`,
				errorBars(rows.map((row) => ({name: `${table.text(row, 'name')} (${ownerOf(table, row)})`, low: table.number(row, 'min_ns'), middle: table.number(row, 'median_ns'), high: table.number(row, 'max_ns'),
					text: `median ${formatNs(table.number(row, 'median_ns'))}`, tip: `${table.text(row, 'launches')} launches: ${formatNs(table.number(row, 'min_ns'))} to ${formatNs(table.number(row, 'max_ns'))}; below 0 it is an error of the clocks`})))));
	}
	return [...made, ...tableViews(2, 'launches', 'queue_length')];
}

function buildCritical() {
	const table = tables.get('critical_path');
	const by = table.oneOf('bound_by', 'bound', 'kind', 'class', 'what');
	const value = table.oneOf('path_ns', 'on_path_ns', 'critical_ns', 'total_ns', 'dur_ns', 'self_ns');
	const made = [];

	if (by && value) {
		const rows = table.ownRows();
		const all = table.sum(value, rows);

		made.push(figure('What the critical path is bound by', `Sum of ${value} by ${by}. ${table.what}${cutNote(table)}`, barList(sumsBy(table, rows, (row) => table.text(row, by) || 'none', value).slice(0, maxBars).map((sum) => ({
			name: sum.key, value: sum.value, text: `${formatNs(sum.value)} · ${formatPercent(100 * sum.value / all)}`, tip: `${sum.value} ns`})))));
	}
	return [...made, ...tableViews(1, 'critical_path', 'slack')];
}
