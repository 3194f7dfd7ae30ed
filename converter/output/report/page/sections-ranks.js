// SPDX-License-Identifier: Apache-2.0
// Sections about ranks, devices and clocks: losses, communication, waits, cores, clocks, alignment, launches, critical path.

const warningColumns = ['id', 'count', 'remedy'];

function buildLosses() {
	const warnings = run.warnings || [];
	const made = [];

	if (warnings.length)
		made.push(new TableView(new Table('warnings', {
			title: 'Warnings', what: 'What the conversion doubted, and what to do about it (run.json).', file: 'run.json',
			columns: warningColumns.map((name) => ({name, type: name === 'count' ? 'integer' : 'text', isProse: name === 'remedy'})),
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
	const table = tables.get('communication');

	if (!table || !table.has('hidden_ns', 'exposed_ns', 'op', 'of'))
		return null;

	const rows = table.ownRows().filter((row) => table.cell(row, 'op') === null).slice(0, 64);
	const sources = new Set(rows.map((row) => table.text(row, 'of')));

	return figure('Hidden and exposed', `Hidden: time of communication under which the same device computed. Exposed: the rest; hidden + exposed = duration. ${table.what}${cutNote(table)}`,
		stackedBars(rows.map((row) => ({
			name: `${ownerOf(table, row)}${sources.size > 1 ? `, as its ${table.text(row, 'of')} tells` : ''}`, text: formatNs(table.number(row, 'total_ns')),
			parts: [{name: 'exposed', part: 1, value: table.number(row, 'exposed_ns')}, {name: 'hidden', part: 0, value: table.number(row, 'hidden_ns')}],
		}))));
}

function waitBars() {
	const waits = waitsByRank();

	if (!waits || !waits.sums.length || !(waits.sums[0].value > 0))
		return null;
	return figure('Wait of each rank', `Sum of ${waits.column} in ${waits.table.file}: from a rank's arrival to that of the last rank.${cutNote(waits.table)}`,
		barList(waits.sums.slice(0, 64).map((sum) => ({name: sum.key, value: sum.value, text: formatNs(sum.value), tip: `${sum.value} ns`}))));
}

function stragglerBars() {
	const table = tables.get('stragglers');

	if (!table || !table.has('caused_wait_ns', 'last', 'collectives', 'total_wait_ns'))
		return null;

	const rows = oneSource(table, table.ownRows(), 'total_wait_ns').slice().sort((a, b) => table.number(b, 'caused_wait_ns') - table.number(a, 'caused_wait_ns'));

	if (!rows.some((row) => table.number(row, 'caused_wait_ns') > 0))
		return null;
	return figure('For whom ranks waited', `caused_wait_ns: how long the others waited where a rank came last. ${table.what}${cutNote(table)}`,
		barList(rows.slice(0, 64).map((row) => ({name: ownerOf(table, row), value: table.number(row, 'caused_wait_ns'),
			text: `${formatNs(table.number(row, 'caused_wait_ns'))} · last in ${formatNumber(table.number(row, 'last'))} of ${formatNumber(table.number(row, 'collectives'))}`,
			tip: `${table.text(row, 'caused_wait_ns')} ns; ${table.text(row, 'unsure_last') || '0'} of these within the error bars`}))));
}

// A chart of points by size, a series for each operation. `of`: {table, rows, size, column, title, formatY, labelY, tell}.
function bySize({table, rows, size, column, title, formatY, labelY, tell}) {
	const drawn = rows.filter((row) => isShowable(table.number(row, size), true) && isShowable(table.number(row, column), true));
	const op = table.oneOf('op', 'kind', 'name');
	const groups = [...groupRows(drawn, (row) => op ? table.text(row, op) : '')].slice(0, maxLines);
	const listed = groups.flatMap(([, of], series) => of.map((row) => ({row, series}))).sort((a, b) => table.number(a.row, size) - table.number(b.row, size));

	if (!listed.length)
		return null;
	return figure(title, `${columnMeaning(table.column(column))} Each point is a row of ${table.file}; both scales are of decades.${cutNote(table)}`, drawChart({
		names: groups.map(([name]) => name || 'communication'), logX: true, logY: true, formatX: (x) => formatSteps(x, 'bytes'), formatY, labelX: 'size', labelY,
		points: listed.map(({row, series}) => [table.number(row, size), ...groups.map((_, i) => i === series ? table.number(row, column) : null)]),
		text: `${title}: ${formatCount(listed.length, 'point')}`,
		hover: (i) => `${groups[listed[i].series][0]} of ${ownerOf(table, listed[i].row)}, ${formatSteps(table.number(listed[i].row, size), 'bytes')}: ${formatY(table.number(listed[i].row, column))}${tell ? tell(listed[i].row) : ''}`,
	}));
}

// Over all ranks, by size, with their standard errors; else of each collective.
function rateChart() {
	const sums = tables.get('communication');

	if (sums && sums.has('size_bytes', 'bus_gbps', 'bus_stderr_gbps')) {
		const all = sums.rows.filter((row) => sums.cell(row, 'rank') === null && sums.cell(row, 'pid') === null);
		const tell = (row) => `${sums.text(row, 'bus_stderr_gbps') ? ` ± ${sums.text(row, 'bus_stderr_gbps')}` : ''} (${formatCount(sums.number(row, 'collectives'), 'collective')})`;
		const made = bySize({table: sums, rows: all.length ? all : sums.rows, size: 'size_bytes', column: 'bus_gbps', title: 'Bus bandwidth by size', formatY: formatRate, labelY: 'bus bandwidth', tell});

		if (made)
			return made;
	}

	const each = tables.get('collectives');

	return each && each.has('bytes', 'bus_gbps') ? bySize({table: each, rows: each.ownRows(), size: 'bytes', column: 'bus_gbps', title: 'Bus bandwidth by size', formatY: formatRate, labelY: 'bus bandwidth'}) : null;
}

const formatRate = (value) => `${formatNumber(Number(value.toPrecision(3)))} GB/s`;

function buildCommunication() {
	return [element('div', {class: 'pair'}, hiddenBars(), waitBars(), stragglerBars()), rateChart(),
		...tableViews(2, 'stragglers', 'communication', 'collectives', 'communication_matrix', 'bandwidth')];
}

function buildWaits() {
	const table = tables.get('collectives');
	const waits = table.ownRows().map((row) => table.number(row, 'wait_ns'));

	return [element('div', {class: 'pair'}, figure('How long ranks waited', `wait_ns of each rank in each collective, in steps of equal ratio. ${columnMeaning(table.column('wait_ns'))}${cutNote(table)}`,
		histogram(waits, formatNs)),
		table.has('bytes') ? bySize({table, rows: table.ownRows(), size: 'bytes', column: 'wait_ns', title: 'Wait by size', formatY: formatNs, labelY: 'wait'}) : null)];
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

// What the critical path of a step consists of; these add up to its wall time.
const pathParts = [['compute_ns', 'compute', 0], ['communication_ns', 'communication', 1], ['memory_ns', 'copies', 2], ['prepare_ns', 'preparation', 3],
	['host_ns', 'host', 4], ['launch_delay_ns', 'launch delay', 5], ['queue_delay_ns', 'queue delay', 6], ['wait_ns', 'wait', 7]];

function buildCritical() {
	const table = tables.get('critical_path_summary');
	const made = [];

	if (table && table.has('wall_ns', 'bound_by')) {
		const groups = [...groupRows(table.rows, (row) => ownerOf(table, row))].slice(0, 65);
		const parts = pathParts.filter(([column]) => table.has(column));
		const most = sumsBy(table, table.ownRows(), (row) => [table.text(row, 'most_kind'), table.text(row, 'most_name')].filter(Boolean).join(': '), 'most_ns').slice(0, maxBars);

		made.push(figure('What steps had to wait for', `Sum of each kind over the critical paths of all steps; the kinds add up to the steps' wall time. ${table.what}${cutNote(table)}`,
			stackedBars(groups.map(([name, rows]) => ({name, text: formatCount(rows.length, 'step'),
				parts: parts.map(([column, part, i]) => ({name: part, part: i, value: table.sum(column, rows)}))})))),
		figure('What held steps up the most', `Of each step the kind and name with the most time on its critical path (most_ns), summed over the steps of single ranks.${cutNote(table)}`,
			barList(most.map((sum) => ({name: sum.key, value: sum.value, text: `${formatNs(sum.value)} in ${formatCount(sum.rows.length, 'step')}`, tip: `${sum.value} ns`})))));
	}
	return [...made, ...tableViews(1, 'critical_path_summary', 'critical_path', 'slack')];
}
