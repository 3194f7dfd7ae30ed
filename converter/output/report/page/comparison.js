// SPDX-License-Identifier: Apache-2.0
// The page of `flextrace diff`: two sides compared by name. Its tables are run, device and host.

const comparison = data.comparison || null;
const sides = comparison ? [['A', comparison.a], ['B', comparison.b]] : [];

// -- figures ------------------------------------------------------------------------------------------------

const signed = (text, value) => value > 0 ? `+${text}` : text;

// "+6.6 % ± 0.6", or that nobody knows how it scatters.
function changeText(table, row) {
	const change = table.number(row, 'change_percent');
	const error = table.number(row, 'error_percent');

	if (!Number.isFinite(change))
		return '';
	return `${signed(formatPercent(change), change)} ± ${Number.isFinite(error) ? error.toFixed(1) : '?'}`;
}

const verdictOf = (table, row) => table.text(row, 'verdict');
const isChanged = (table, row) => ['slower', 'faster', 'added', 'removed'].includes(verdictOf(table, row));
const differenceOf = (table, row) => table.number(row, 'difference_ns') || 0;
const nameOf = (table, row) => [...new Set([table.text(row, 'kind'), table.text(row, 'name')])].filter(Boolean).join(': ');

function meansText(table, row) {
	const [a, b] = ['a_mean_ns', 'b_mean_ns'].map((column) => formatNs(table.number(row, column)));

	return a && b ? `${a} in A, ${b} in B` : a || b;
}

// What makes B longer or shorter, the most first.
function changedRows(table) {
	return table.rows.filter((row) => isChanged(table, row)).sort((x, y) => Math.abs(differenceOf(table, y)) - Math.abs(differenceOf(table, x)));
}

// -- the verdict --------------------------------------------------------------------------------------------

const verdictWords = {slower: 'yes, slower', faster: 'no, faster', unchanged: 'not beyond noise', unknown: 'not known'};

// By the iterations, which are many, else by whole runs; where neither is repeated, by the one whole run.
function judgeRun() {
	const table = tables.get('run');
	const both = table ? table.rows.filter((row) => Number.isFinite(table.number(row, 'change_ns'))) : [];
	const row = both.find((of) => table.text(of, 'name') === 'iteration') || both[0];

	if (!row)
		return null;

	const verdict = verdictOf(table, row);
	const others = both.filter((of) => of !== row).map((of) => `; ${table.text(of, 'name')}: ${meansText(table, of)} (${changeText(table, of)})`);

	return statement(null, 'Is B slower than A?', verdictWords[verdict] || verdict,
		`${table.text(row, 'name')}: ${meansText(table, row)}, ${changeText(table, row)}${verdict === 'unknown' ? ', once each: nobody knows how it scatters' : ''}${others.join('')}.`,
		`B − A in hundredths of A, ± half of its ${comparison.confidence_percent} % confidence interval (Welch’s t-test). Iterations: from the start of one to the start of the next.`, 'run');
}

function judgeNames(name, question) {
	const table = tables.get(name);

	if (!table)
		return null;

	const [first, second] = changedRows(table);
	const tell = (row) => `${signed(formatNs(differenceOf(table, row)), differenceOf(table, row))} in all`;

	if (!first)
		return statement(table, question, 'nothing for certain', `None of ${formatCount(table.rows.length, 'name')} is slower or faster beyond noise.`,
			'Beyond noise: the confidence interval of the change does not reach 0, and it is at least --min-change.', name);
	return statement(table, question, shorten(nameOf(table, first), 90),
		`${verdictOf(table, first)}: ${tell(first)}; a call ${meansText(table, first)}${changeText(table, first) ? `, ${changeText(table, first)}` : ''}.${second ? ` Next ${shorten(nameOf(table, second))}: ${verdictOf(table, second)}, ${tell(second)}.` : ''}`,
		`${nameOf(table, first)}: of what is slower, faster, added or removed the largest difference of the totals of a run`, name);
}

function judgeSureness() {
	const counts = sides.map(([, runs]) => runs.length);
	const losses = sides.flatMap(([side, runs]) => {
		const lost = runs.reduce((sum, of) => sum + (Number((of.totals || {}).lost) || 0), 0);

		return lost ? [`${side} lost ${formatCount(lost, 'record')}`] : [];
	});
	const areRuns = comparison.repeats === 'runs';

	return statement(null, 'How sure is this?', areRuns ? `${comparison.confidence_percent} %, from run to run` : `${comparison.confidence_percent} %, within one run`,
		`${areRuns ? `Intervals come from ${counts[0]} and ${counts[1]} runs: they hold for runs to come.` : 'Intervals come from the calls of one run: what differs from run to run is not in them. Several runs of each side tell: flextrace diff a1,a2,a3 b1,b2,b3.'}${losses.length ? ` But: ${losses.join(', ')}.` : ''}`,
		'Of a hundred names that did not change, about five have an interval that does not reach 0.', 'sides');
}

function buildComparisonVerdict() {
	const statements = [judgeRun(), judgeNames('device', 'What changed most on devices?'), judgeNames('host', 'What changed most on the host?'), judgeSureness()];

	return element('section', {id: 'verdict', 'aria-label': 'Verdict'}, element('ul', {class: 'verdict'}, statements.filter(Boolean)));
}

// -- the largest changes ------------------------------------------------------------------------------------

const verdictParts = {slower: 1, added: 5, faster: 2, removed: 6};

// A bar from 0 to the difference of the totals, with what the interval of a call makes of so many calls.
function changeBars(items) {
	const ends = items.flatMap((item) => [0, item.value, item.value - item.error, item.value + item.error]).filter(Number.isFinite);
	const low = Math.min(...ends);
	const size = Math.max(...ends) - low || 1;
	const place = (value) => `${100 * (value - low) / size}%`;

	return element('ol', {class: 'bars errors changes'}, items.map((item) => {
		const fill = element('span', {class: `fill part${verdictParts[item.verdict]}`});
		const zero = element('span', {class: 'zero'});
		const bar = element('span', {class: 'bar'}, fill, zero);

		fill.style.left = place(Math.min(0, item.value));
		fill.style.width = `max(2px, ${100 * Math.abs(item.value) / size}%)`;
		zero.style.left = place(0);
		if (Number.isFinite(item.error)) {
			const range = element('span', {class: 'range'});

			range.style.left = place(item.value - item.error);
			range.style.width = `${200 * item.error / size}%`;
			bar.append(range);
		}
		return element('li', {}, element('span', {class: 'name', title: item.name}, item.name), bar, explained(item.text, item.tip, {class: 'figure'}));
	}));
}

// The interval is about calls: where their number differs, it is not that of the totals.
function largestChanges(table) {
	const rows = changedRows(table).slice(0, maxBars);

	if (!rows.length)
		return element('p', {}, 'Nothing here is slower, faster, added or removed beyond noise.');
	return figure('Largest changes', `B − A of the totals of a run. Whiskers: the ${comparison.confidence_percent} % confidence interval of the change of a call, times the calls, where A and B have as many.${cutNote(table)}`,
		changeBars(rows.map((row) => {
			const [calls, before] = [table.number(row, 'b_calls'), table.number(row, 'a_calls')];
			const value = differenceOf(table, row);
			const change = changeText(table, row);

			return {
				name: nameOf(table, row), verdict: verdictOf(table, row), value,
				error: calls === before ? calls * table.number(row, 'error_ns') : NaN,
				text: `${verdictOf(table, row)} ${signed(formatNs(value), value)}${change ? ` · ${change}` : ''}`,
				tip: `${nameOf(table, row)}: a call ${meansText(table, row)}; ${formatNumber(before)} calls in A, ${formatNumber(calls)} in B; ${value} ns in all`,
			};
		})));
}

const buildChanges = (name) => () => [largestChanges(tables.get(name)), tableView(name)];

// -- what is compared ---------------------------------------------------------------------------------------

const someOf = (values) => {
	const all = [...new Set(values.filter((value) => value !== '' && value !== undefined && value !== null))];

	return all.length > 3 ? `${all.slice(0, 3).join(', ')} and ${all.length - 3} more` : all.join(', ');
};

function sideRow(side, of) {
	const processes = of.processes || [];
	const totals = of.totals || {};
	const start = Number(totals.first_ns);

	return [side, of.path, someOf(processes.map((process) => process.program)), someOf(processes.map((process) => process.host)), of.n_processes,
		start > 1e18 ? new Date(start / 1e6).toISOString() : '', totals.length_ns, totals.records, totals.lost, (of.warnings || []).length,
		Object.entries(of.options || {}).map(([name, value]) => `${name}=${value}`).join(', '), (of.versions || {}).flextrace];
}

function buildSides() {
	const names = ['side', 'run', 'program', 'host', 'processes', 'started', 'length_ns', 'records', 'lost', 'warnings', 'options', 'flextrace'];
	const numbers = ['processes', 'length_ns', 'records', 'lost', 'warnings'];
	const table = new Table('sides', {
		title: 'Runs', what: 'What run.json of each run tells.', file: 'runs', columns: names.map((name) => ({name, type: numbers.includes(name) ? 'integer' : 'text'})),
		rows: sides.flatMap(([side, runs]) => runs.map((of) => sideRow(side, of))),
	});

	return [new TableView(table).build(true)];
}

const comparisonSections = [
	...[['run', 'Whole run'], ['device', 'Device work'], ['host', 'Host functions']].map(([id, title]) => (
		{id, title, exists: () => tables.has(id), build: id === 'run' ? () => [tableView(id)] : buildChanges(id)})),
	{id: 'sides', title: 'What is compared', exists: () => true, build: buildSides},
	{id: 'about', title: 'About this page', exists: () => true, build: buildAbout},
];

// "before → after".
function comparedNames() {
	return sides.map(([, runs]) => {
		const first = String((runs[0] || {}).path || '?').replace(/\/+$/, '').split('/').pop();

		return runs.length > 1 ? `${first} and ${runs.length - 1} more` : first;
	}).join(' → ');
}
