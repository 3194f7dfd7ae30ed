// SPDX-License-Identifier: Apache-2.0
// Sections about time: what ran, where the time went, over time, stacks, steps, variability, memory.

const maxBars = 15;

function buildRan() {
	const processes = run.processes || [];
	const totals = run.totals || {};
	const list = element('dl', {class: 'facts'});
	const fact = (name, text) => text && list.append(element('div', {}, element('dt', {}, name), element('dd', {}, text)));

	fact('inputs', (run.inputs || []).join(', '));
	fact('time', `${formatNs(Number(endTime - startTime))}${startTime > 10n ** 18n ? ` from ${new Date(Number(startTime / 1000000n)).toISOString()}` : ''}`);
	fact('ranks', formatNumber(countRanks() || NaN));
	fact('records', formatNumber(Number(totals.records)));
	fact('host intervals', formatNumber(Number(totals.host_rows)));
	fact('device intervals', formatNumber(Number(totals.device_rows)));
	fact('options', Object.entries(run.options || {}).map(([name, value]) => `${name}=${value}`).join(', '));
	fact('flextrace', (run.versions || {}).flextrace);
	return [list, processes.length ? new TableView(processTable(processes)).build(false) : null, ...tableViews(0, 'devices', 'losses', 'emitted')];
}

// run.json lists processes as the tables list rows.
function processTable(processes) {
	const names = ['rank', 'host', 'pid', 'program', 'runtime', 'version', 'world_size'];

	return new Table('processes', {
		title: 'Processes', what: 'Who was recorded, as the programs told it (run.json).', file: 'run.json',
		columns: names.map((name) => ({name, type: ['rank', 'pid', 'world_size'].includes(name) ? 'integer' : 'text'})),
		rows: processes.map((process) => names.map((name) => {
			const value = process[name];

			return (name === 'rank' && value < 0) || (name === 'world_size' && value === 0) ? null : value;
		})),
	});
}

// The largest of a table's names, summed over ranks.
function largestBars(table, column, title) {
	if (!table || !table.has('name', column))
		return null;

	const rows = table.ownRows();
	const all = table.sum(column, rows);
	const sums = sumsBy(table, rows, (row) => [table.text(row, 'kind'), table.text(row, 'name')].filter(Boolean).join(': '), column)
		.filter((sum) => sum.value > 0).slice(0, maxBars);

	if (!sums.length)
		return null;
	return figure(title, `Sum of ${column} by name over all ranks; share: of the sum of ${column} of all names. ${columnMeaning(table.column(column))}${cutNote(table)}`,
		barList(sums.map((sum) => ({
			name: sum.key, value: sum.value, text: `${formatNs(sum.value)} · ${formatPercent(100 * sum.value / all)}`,
			tip: `${sum.key}: ${sum.value} ns in ${formatCount(table.sum('calls', sum.rows), 'call')}`,
		}))));
}

function breakdownBars() {
	const table = tables.get('breakdown');

	if (!table || !table.has('wall_ns', 'compute_ns'))
		return activeBars();

	const parts = breakdownParts.map(([column, name], i) => [column, name, i]).filter(([column]) => table.has(column));
	const rows = table.deviceRows();

	return figure('Each device', `What the time of each device went to, from its first work to the end of its last; the parts add up to it. ${table.what}${cutNote(table)}`,
		stackedBars(rows.slice(0, 64).map((row) => ({
			name: ownerOf(table, row), text: formatNs(table.number(row, 'wall_ns')),
			parts: parts.map(([column, name, part]) => ({name, part, value: table.number(row, column)})),
		}))), element('p', {}, rows.length > 64 ? `${formatCount(rows.length - 64, 'more device')} are in ${table.file}.` : ''));
}

function activeBars() {
	const table = tables.get('active');

	if (!table || !table.has('active_ns', 'elapsed_ns'))
		return null;
	return figure('Each rank', 'Active: union of all kernels of the device. Idle: the rest from its first kernel to its last.',
		stackedBars(table.ownRows().slice(0, 64).map((row) => ({
			name: ownerOf(table, row), text: `${formatPercent(table.number(row, 'active_percent'))} active`,
			parts: [{name: 'active', part: 0, value: table.number(row, 'active_ns')},
				{name: 'idle', part: 7, value: table.number(row, 'elapsed_ns') - table.number(row, 'active_ns')}],
		}))));
}

function buildTime() {
	return [element('div', {class: 'pair'}, largestBars(tables.get('kernels'), 'total_ns', 'Device work'),
		largestBars(tables.get('runtime'), 'self_ns', 'Host functions, their own time')),
	breakdownBars(), ...tableViews(1, 'key_averages', 'kernels', 'runtime', 'key_averages_shapes', 'key_averages_stack', 'breakdown', 'active', 'kernels_grouped', 'kernels_by_queue',
		'hlo_modules', 'hlo_ops', 'hlo_opcodes', 'categories', 'ops', 'device_ops', 'stamps', 'zones')];
}

// -- over time ----------------------------------------------------------------------------------------------

const maxLines = 8;

const overviewColumns = [['compute_ns', 'compute'], ['exposed_communication_ns', 'exposed communication'], ['exposed_memory_ns', 'exposed copies'],
	['exposed_prepare_ns', 'exposed preparation'], ['host_ns', 'host in a call']];

// A small chart for each rank: shares of each stretch of time.
function buildOverview() {
	const table = tables.get('overview');

	if (!table.has('start_ns', 'end_ns'))
		return [tableView('overview')];

	const rows = table.ownRows();
	const columns = overviewColumns.filter(([column]) => table.has(column) && rows.some((row) => table.number(row, column) > 0));
	const share = (row, column) => 100 * table.number(row, column) / (table.time(row, 'end_ns') - table.time(row, 'start_ns'));
	const groups = [...groupRows(rows, (row) => ownerOf(table, row))];
	const charts = groups.slice(0, 32).map(([name, of]) => element('div', {class: 'overview'}, element('h4', {}, name), drawChart({
		names: columns.map(([, text]) => text), areLines: true, isStep: true, isSmall: true, group: 'overview',
		points: of.filter((row) => isShowable(table.time(row, 'start_ns'))).map((row) => [table.time(row, 'start_ns'), ...columns.map(([column]) => share(row, column))]),
		formatX: formatNs, formatY: formatPercent, text: `Utilisation over time of ${name}`,
	})));

	return [figure('Utilisation over time', `100 · time of each kind in a stretch / the length of the stretch, by rank; more than 100 % where a rank has several devices. ${table.what} Drag to zoom, double-click for the whole; all ranks zoom together.${cutNote(table)}`,
		groupZoom('overview'), charts), tableView('overview', false)];
}

function groupZoom(group) {
	const first = () => charts.find((of) => of.group === group);
	const button = (text, name, act) => element('button', {type: 'button', 'aria-label': name, 'data-tip': name, click: () => first() && act(first().chart)}, text);
	const window = (chart, middleShare, factor) => {
		const [from, to] = chart.xAxisRange();
		const middle = from + (to - from) * middleShare;
		const half = (to - from) * factor / 2;

		chart.updateOptions({dateWindow: [middle - half, middle + half]});
	};

	return element('div', {class: 'zoom', role: 'group', 'aria-label': 'zoom'}, button('+', 'Zoom in', (chart) => window(chart, 0.5, 0.5)),
		button('−', 'Zoom out', (chart) => window(chart, 0.5, 2)), button('←', 'Earlier', (chart) => window(chart, 0, 1)),
		button('→', 'Later', (chart) => window(chart, 1, 1)), button('whole', 'Show the whole', (chart) => chart.updateOptions({dateWindow: chart.xAxisExtremes()})));
}

// -- flame graphs -------------------------------------------------------------------------------------------

const escapes = {'%3B': ';', '%25': '%', '%0A': '\n', '%0D': '\r'};

// Frames are joined by ";", which is written otherwise in their names.
function framesOf(stack) {
	return stack.split(';').map((frame) => frame.replace(/%(3B|25|0A|0D)/g, (code) => escapes[code]));
}

const flameTitles = {host: 'Host: own time of calls, by stack', device: 'Device: time of kernels, by the stack that launched them',
	op_name: "Device: time of kernels, by the framework's names of operations"};

function buildFlames() {
	const table = tables.get('stacks');

	if (!table.has('kind', 'stack', 'host_self_ns', 'device_ns'))
		return [tableView('stacks')];

	const views = [...groupRows(table.ownRows(), (row) => table.text(row, 'kind'))].map(([kind, rows]) => {
		const column = kind === 'host' ? 'host_self_ns' : 'device_ns';
		const stacks = rows.map((row) => ({frames: framesOf(table.text(row, 'stack')), value: table.number(row, column)}));

		return new FlameView(flameTitles[kind] || kind, `${table.what} Width: sum of ${column} of a stack and of what is on it, over all ranks.${cutNote(table)}`,
			foldStacks(stacks, `all (${kind})`)).element;
	});

	return [...views, tableView('stacks', false)];
}

// -- steps --------------------------------------------------------------------------------------------------

// Steps further from the median of their rank than three scaled median deviations: {row, owner, median}.
function findOutliers(table, rows) {
	return [...groupRows(rows, (row) => ownerOf(table, row))].flatMap(([owner, of]) => {
		const values = sortedNumbers(of.map((row) => table.number(row, 'dur_ns')));
		const median = quantile(values, 0.5);
		const spread = 1.4826 * quantile(sortedNumbers(values.map((value) => Math.abs(value - median))), 0.5);

		return of.filter((row) => Math.abs(table.number(row, 'dur_ns') - median) > 3 * spread)
			.map((row) => ({row, owner, ratio: table.number(row, 'dur_ns') / median, excess: Math.abs(table.number(row, 'dur_ns') - median)}));
	}).sort((a, b) => b.excess - a.excess);
}

function buildIterations() {
	const table = tables.get('iterations');
	const made = [];

	if (table && table.has('iteration', 'dur_ns')) {
		const rows = table.ownRows();
		const groups = [...groupRows(rows, (row) => ownerOf(table, row))].slice(0, maxLines);
		const points = joinSeries(groups.map(([, of]) => of.map((row) => [table.number(row, 'iteration'), table.number(row, 'dur_ns')])));
		const outliers = findOutliers(table, rows);

		made.push(figure('Duration of each step', `dur_ns of each step by rank, on a scale of decades. Outliers: further from the median of their rank than 3 · 1.4826 · the median distance from it.${cutNote(table)}`,
			drawChart({names: groups.map(([name]) => name), points, areLines: true, withPoints: true, logY: true, formatX: (x) => Number.isInteger(x) ? String(x) : '', formatY: formatNs,
				labelX: 'step', labelY: 'duration', text: `Duration over ${formatCount(points.length, 'step')} of ${formatCount(groups.length, 'rank')}`,
				hover: (row, shown) => `step ${points[row][0]}: ${shown.map((point) => `${groups[Number(point.name.slice(1))][0]} ${formatNs(point.yval)}`).join(', ')}`}),
			element('p', {}, outliers.length ? `${formatCount(outliers.length, 'outlier')}: ${outliers.slice(0, 6).map((outlier) =>
				`step ${table.text(outlier.row, 'iteration')} of ${outlier.owner} (${formatNs(table.number(outlier.row, 'dur_ns'))}, ${formatNumber(Number(outlier.ratio.toPrecision(3)))} × the median)`).join('; ')}${outliers.length > 6 ? '; …' : ''}` : 'No outliers.')));
	}
	return [...made, ...tableViews(1, 'loops', 'iterations')];
}

// -- variability --------------------------------------------------------------------------------------------

function buildVariability() {
	const table = tables.get('variability') || tables.get('kernels');
	const mean = table.oneOf('mean_ns');
	const sigma = table.oneOf('stddev_ns');

	if (!mean || !sigma)
		return [tableView('variability')];

	const ratio = (row) => table.number(row, sigma) / table.number(row, mean);
	const rows = table.ownRows().filter((row) => !(table.number(row, 'calls') < 2) && isShowable(ratio(row), true) && isShowable(table.number(row, mean), true))
		.sort((a, b) => table.number(a, mean) - table.number(b, mean));
	const formula = `σ/μ = stddev_ns / mean_ns of each name and rank with two calls or more, against mean_ns. ${table.what}${cutNote(table)}`;
	const most = rows.slice().sort((a, b) => ratio(b) - ratio(a)).slice(0, 10);
	const nameOf = (row) => `${table.text(row, 'name')} (${ownerOf(table, row)})`;

	if (!rows.length)
		return [tableView('variability')];
	return [element('div', {class: 'pair'}, figure('σ/μ against the mean', formula, drawChart({
		names: ['a name of a rank'], points: rows.map((row) => [table.number(row, mean), ratio(row)]), logX: true,
		formatX: formatNs, formatY: formatNumber, labelX: 'mean duration', labelY: 'σ / mean', text: `σ/μ against the mean of ${formatCount(rows.length, 'name')}`,
		hover: (row) => `${nameOf(rows[row])}: σ/μ ${formatNumber(Number(ratio(rows[row]).toPrecision(3)))}, mean ${formatNs(table.number(rows[row], mean))}, ${formatCount(table.number(rows[row], 'calls'), 'call')}`,
	})), figure('The ten most variable', formula, barList(most.map((row) => ({
		name: nameOf(row), value: ratio(row), text: `σ/μ ${formatNumber(Number(ratio(row).toPrecision(3)))}`,
		tip: `mean ${formatNs(table.number(row, mean))}, ${formatCount(table.number(row, 'calls'), 'call')}`,
	}))))), tableView('variability', false)];
}

// -- memory -------------------------------------------------------------------------------------------------

function buildMemory() {
	const table = tables.get('memory');
	const total = 'total_bytes';
	const made = [];

	if (table && table.has(total, 'time_ns')) {
		const groups = [...groupRows(table.ownRows().filter((row) => Number.isFinite(table.number(row, total))), (row) => ownerOf(table, row))].slice(0, maxLines);

		if (groups.some(([, rows]) => rows.length > 1))
			made.push(figure('Allocated over time', `${columnMeaning(table.column(total))}${cutNote(table)}`, drawChart({
				names: groups.map(([name]) => name), areLines: true, isStep: true, isBytes: true, formatX: formatNs, formatY: (value) => formatSteps(value, 'bytes'),
				points: joinSeries(groups.map(([, rows]) => rows.map((row) => [table.time(row, 'time_ns'), table.number(row, total)])), true),
				labelX: 'time since the start', labelY: 'allocated', text: 'Allocated memory over time'})));
	}
	return [...made, ...tableViews(2, 'memory_peaks', 'memory_left', 'memory')];
}
