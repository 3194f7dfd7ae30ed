// SPDX-License-Identifier: Apache-2.0
// The short verdict on top: what takes the most, who waits, how much is idle and why, and whether to believe it.

const isCopyKind = (kind) => /memcpy|memset|dma|prep|release|copy|^set|alloc|free/i.test(kind);

// Sums of a column by key, the largest first: [{key, value, rows}].
function sumsBy(table, rows, keyOf, column) {
	return [...groupRows(rows, keyOf)].map(([key, of]) => ({key, value: table.sum(column, of), rows: of}))
		.sort((a, b) => b.value - a.value);
}

function cutNote(table) {
	return table && table.isCut ? ` (from the first ${formatNumber(table.rows.length)} of ${formatNumber(table.rowCount)} rows of ${table.file})` : '';
}

function statement(table, question, answer, detail, tipText, target) {
	return element('li', {}, element('span', {class: 'question'}, question),
		explained(answer, tipText, {class: 'answer'}),
		element('span', {class: 'detail'}, detail, cutNote(table), ' ', target && document.getElementById(target) ?
			element('a', {href: `#${target}`}, 'more') : ''));
}

function judgeKernels() {
	const table = tables.get('kernels');

	if (!table || !table.has('name', 'total_ns'))
		return null;

	const rows = table.ownRows();
	const all = table.sum('total_ns', rows);
	const kernels = rows.filter((row) => !isCopyKind(table.text(row, 'kind')));
	const [first, second] = sumsBy(table, kernels.length ? kernels : rows, (row) => table.text(row, 'name'), 'total_ns');
	const calls = table.sum('calls', first.rows);
	const share = (of) => formatPercent(100 * of.value / all);

	return statement(table, 'Which kernel takes the most?', shorten(first.key, 90),
		`${share(first)} of all device work: ${formatNs(first.value)} in ${formatCount(calls, 'call')}${second ? `; next ${shorten(second.key)}, ${share(second)}` : ''}.`,
		`${first.key}: 100 · total_ns of the name / the sum of total_ns of all device work (copies, too), over all ranks, in ${table.file}`, 'time');
}

// What programs recorded and what devices did may be the same: of the two the one with more in it.
function oneSource(table, rows, column) {
	if (!table.has('of'))
		return rows;
	return sumsBy(table, rows, (row) => table.text(row, 'of'), column)[0].rows;
}

// Per process: how long it waited for others in collectives; null where nobody knows.
function waitsByRank() {
	const found = [['stragglers', 'total_wait_ns'], ['collectives', 'wait_ns']].find(([name, column]) => {
		const table = tables.get(name);

		return table && table.has(column, 'rank') && table.rows.some((row) => table.cell(row, column) !== null);
	});

	if (!found)
		return null;

	const [table, column] = [tables.get(found[0]), found[1]];
	const rows = oneSource(table, table.ownRows(), column);

	return {table, column, rows, sums: sumsBy(table, rows, (row) => ownerOf(table, row), column)};
}

// For whom the others waited, where that is known.
function tellLast({table, rows}) {
	if (!table.has('caused_wait_ns', 'last', 'collectives'))
		return '';

	const [most] = sumsBy(table, rows, (row) => ownerOf(table, row), 'caused_wait_ns');

	return most.value > 0 ? `; ${most.key} came last in ${formatNumber(table.sum('last', most.rows))} of ${formatNumber(table.sum('collectives', most.rows))} and cost the others ${formatNs(most.value)}` : '';
}

const countRanks = () => new Set((run.processes || []).map((process) => process.rank).filter((rank) => rank >= 0)).size;

function judgeWaits() {
	const waits = waitsByRank();

	if (!waits && countRanks() > 1)
		return statement(null, 'Which rank waits?', 'not known', 'Nothing recorded tells which collectives ranks did together.',
			'tables/stragglers.csv has the waits of collectives whose ranks are all known, by group and number', 'communication');
	if (!waits || waits.sums.length < 2)
		return null;

	const {table, sums, column} = waits;
	const span = Number(endTime - startTime);
	const least = sums[sums.length - 1];
	const isEven = sums[0].value < 1.1 * least.value;

	if (!(sums[0].value > 0))
		return statement(table, 'Which rank waits?', 'none', 'No rank waited for another in a collective.', `sum of ${column} in ${table.file}`, 'communication');
	return statement(table, 'Which rank waits?', isEven ? 'all about alike' : sums[0].key,
		`${isEven ? sums[0].key : 'It'} waited ${formatNs(sums[0].value)} for others in collectives, ${formatPercent(100 * sums[0].value / span)} of the trace${longestWait(sums[0])}; ${least.key} the least, ${formatNs(least.value)}${tellLast(waits)}.`,
		`Sum of ${column} by rank in ${table.file}: from a rank's arrival in a collective to that of the last rank`, 'communication');
}

// Where one wait is most of all: its share.
function longestWait({key, value}) {
	const table = tables.get('collectives');

	if (!table || !table.has('wait_ns', 'number'))
		return '';

	const own = table.ownRows().filter((row) => ownerOf(table, row).split(', device')[0] === key);
	const longest = own.reduce((most, row) => table.number(row, 'wait_ns') > table.number(most, 'wait_ns') ? row : most, own[0]);
	const isMost = longest && table.number(longest, 'wait_ns') * 2 > value;

	return isMost ? `, ${formatNs(table.number(longest, 'wait_ns'))} of it in one, ${table.text(longest, 'op')} number ${table.text(longest, 'number')}` : '';
}

// What the time of a device goes to; these add up to its wall time.
const breakdownParts = [
	['compute_ns', 'compute'], ['exposed_communication_ns', 'exposed communication'], ['exposed_memory_ns', 'exposed copies'],
	['exposed_prepare_ns', 'exposed preparation'], ['host_wait_ns', 'idle: waits for the host'], ['kernel_wait_ns', 'idle: between kernels'],
	['other_idle_ns', 'idle: other'],
];

function judgeIdle() {
	const table = tables.get('breakdown');

	if (!table || !table.has('wall_ns', 'idle_ns'))
		return judgeActive();

	const rows = table.deviceRows();
	const whole = table.sum('wall_ns', rows);
	const shareOf = (column) => 100 * table.sum(column, rows) / whole;
	const tell = (columns, between) => columns.filter(([column]) => table.has(column) && shareOf(column) >= 0.05)
		.sort((a, b) => shareOf(b[0]) - shareOf(a[0])).map(([column, name]) => `${formatPercent(shareOf(column))}${between}${name.replace(/idle: |exposed /, '')}`).join(', ');
	const causes = tell(breakdownParts.slice(4), ' ');
	const exposed = tell(breakdownParts.slice(1, 3), ' went to ');

	return statement(table, 'How much is idle, and why?', formatPercent(shareOf('idle_ns')),
		`${causes ? `Of the devices' time: ${causes}.` : 'The devices always had work.'}${exposed ? ` Besides, ${exposed} while nothing was computed.` : ''}`,
		`100 · idle_ns / wall_ns over all devices, and its parts, in ${table.file}. ${table.what}`, 'time');
}

function judgeActive() {
	const table = tables.get('active');

	if (!table || !table.has('active_ns', 'elapsed_ns'))
		return null;

	const rows = table.ownRows();
	const elapsed = table.sum('elapsed_ns', rows);
	const active = table.sum('active_ns', rows);
	const each = rows.map((row) => ({name: ownerOf(table, row), idle: 100 - table.number(row, 'active_percent')}))
		.sort((a, b) => b.idle - a.idle);
	const detail = each.length < 2 ? 'Time between the first and the last kernel in which none ran.' :
		`Most on ${each[0].name} (${formatPercent(each[0].idle)}), least on ${each[each.length - 1].name} (${formatPercent(each[each.length - 1].idle)}); no kernel ran in that time.`;

	return statement(table, 'How much is idle?', formatPercent(100 * (elapsed - active) / elapsed), detail,
		`100 · (elapsed_ns − active_ns) / elapsed_ns over all devices, in ${table.file}`, 'time');
}

// -- trust --------------------------------------------------------------------------------------------------

const countLost = () => Number((run.totals || {}).lost) || 0;

// What speaks against the numbers, the worst first: {text, isBad}.
function findDoubts(clocks) {
	const doubts = [];
	const lost = countLost();
	const warnings = (run.warnings || []).length;
	const add = (n, text, isBad) => {
		if (n > 0)
			doubts.push({text: text(n), isBad});
	};

	if (run.closes === false)
		doubts.push({text: 'the books do not close: records are unaccounted for', isBad: true});
	add(clocks.violations, (n) => `${formatCount(n, 'violation')} of causality left`, true);
	add(lost, (n) => `${formatCount(n, 'record')} lost`, lost * 100 > ((run.totals || {}).records || 0));
	add(clocks.outliers, (n) => `${formatCount(n, 'outlier')}`, false);
	add(warnings, (n) => formatCount(n, 'warning'), false);
	return doubts;
}

function sumClocks() {
	const table = tables.get('clocks');
	const sums = {events: 0, certified: 0, outliers: 0, violations: 0, largest: NaN, isKnown: Boolean(table)};

	if (!table)
		return sums;
	sums.events = table.sum('events');
	sums.certified = table.sum('certified');
	sums.outliers = table.sum('outliers');
	sums.violations = table.sum('violations_after');

	const widths = [['clocks', 'half_width_ns_max'], ['alignment', 'half_width_ns_max']].flatMap(([name, column]) => {
		const of = tables.get(name);

		return of && of.has(column) ? of.rows.map((row) => of.number(row, column)) : [];
	});

	sums.largest = sortedNumbers(widths).pop();
	return sums;
}

function judgeTrust() {
	const clocks = sumClocks();
	const doubts = findDoubts(clocks);
	const share = 100 * clocks.certified / clocks.events;
	const isGiven = !clocks.events;
	const isBad = doubts.some((doubt) => doubt.isBad);
	const isSure = !isGiven && share === 100;
	const answer = isBad ? 'no, see why' : isGiven ? 'as far as their tool' : isSure && !doubts.length ? 'yes' : 'with care';
	const times = isGiven ? 'Times are those of the tool that wrote the file; nothing here bounds their error.' :
		`${formatPercent(share)} of device times are certified${Number.isFinite(clocks.largest) ? `, the largest error bar is ± ${formatNs(clocks.largest)}` : ', no error bar is known'}.`;
	const losses = doubts.length ? ` But: ${doubts.map((doubt) => doubt.text).join('; ')}.` : ' Nothing was lost, and every record is accounted for.';

	return statement(tables.get('clocks'), 'Can the numbers be trusted?', answer, times + losses,
		'Certified: 100 · certified / events over all clock domains, in tables/clocks.csv; the truth of such a time lies within its error bar. Largest error bar: half_width_ns_max of clocks and alignment. Losses and warnings: run.json.',
		isGiven || doubts.length ? (document.getElementById('losses') ? 'losses' : 'clocks') : 'clocks');
}

function buildVerdict() {
	const statements = [judgeKernels(), judgeWaits(), judgeIdle(), judgeTrust()].filter(Boolean);

	return element('section', {id: 'verdict', 'aria-label': 'Verdict'}, element('ul', {class: 'verdict'}, statements));
}
