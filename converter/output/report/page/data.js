// SPDX-License-Identifier: Apache-2.0
// The document that stands in the page: run.json, and the first rows of each table.

const dataText = document.getElementById('flextrace-data').textContent;
const data = JSON.parse(dataText);
const run = data.run || {};

// Times of a trace are beyond what a double holds: in run.json they are taken from the text.
function exactNumber(name) {
	const found = dataText.match(new RegExp(`"${name}"\\s*:\\s*"?(-?\\d+)`));

	return found ? BigInt(found[1]) : 0n;
}

const startTime = exactNumber('first_ns');
const endTime = exactNumber('last_ns');

// ns since the first time of the trace; NaN where there is none.
function sinceStart(time) {
	return /^-?\d+$/.test(time) ? Number(BigInt(time) - startTime) : NaN;
}

// A table: cells are asked for by the name of their column, which need not be there.
class Table {
	constructor(name, content) {
		this.name = name;
		this.title = content.title || name;
		this.what = content.what || '';
		this.file = content.file || `tables/${name}.csv`;
		this.columns = content.columns;
		this.rows = content.rows;
		this.rowCount = content.n_rows || content.rows.length;
		this.places = new Map(content.columns.map((column, i) => [column.name, i]));
	}

	get isCut() {
		return this.rowCount > this.rows.length;
	}

	has(...names) {
		return names.every((name) => this.places.has(name));
	}

	// The first of these columns that the table has, else null.
	oneOf(...names) {
		return names.find((name) => this.places.has(name)) || null;
	}

	column(name) {
		return this.columns[this.places.get(name)];
	}

	cell(row, name) {
		const value = row[this.places.get(name)];

		return value === undefined || value === '' ? null : value;
	}

	text(row, name) {
		const value = this.cell(row, name);

		return value === null ? '' : String(value);
	}

	// NaN: empty, or no number.
	number(row, name) {
		const value = this.cell(row, name);

		return value === null ? NaN : Number(value);
	}

	time(row, name) {
		return sinceStart(this.cell(row, name));
	}

	sum(name, rows = this.rows) {
		return rows.reduce((total, row) => total + (this.number(row, name) || 0), 0);
	}

	// Rows of single ranks: without those that tell of all ranks, which have neither rank nor pid.
	ownRows() {
		if (!this.has('rank', 'pid'))
			return this.rows;

		const own = this.rows.filter((row) => this.cell(row, 'rank') !== null ||
			this.cell(row, 'pid') !== null);

		return own.length ? own : this.rows;
	}

	// Of these, rows of single devices: without the sum of a rank's devices.
	deviceRows() {
		const own = this.ownRows();
		const ofDevices = own.filter((row) => this.cell(row, 'device') !== null);

		return ofDevices.length ? ofDevices : own;
	}
}

const tables = new Map(Object.entries(data.tables || {})
	.filter(([, content]) => content.rows && content.rows.length)
	.map(([name, content]) => [name, new Table(name, content)]));

// The name of the process, and device, that a row is of.
function ownerOf(table, row) {
	const rank = table.text(row, 'rank');
	const pid = table.text(row, 'pid');
	const device = table.text(row, 'device');
	const parts = [rank !== '' ? `rank ${rank}` : pid !== '' ? `pid ${pid}` : 'all ranks'];

	if (device !== '')
		parts.push(`device ${device}`);
	return parts.join(', ');
}

// Rows by what `keyOf` says of each, in the order of their first ones.
function groupRows(rows, keyOf) {
	const groups = new Map();

	for (const row of rows) {
		const key = keyOf(row);

		if (!groups.has(key))
			groups.set(key, []);
		groups.get(key).push(row);
	}
	return groups;
}

// The value below which `share` (0 to 1) of sorted values lie; NaN: there is none.
function quantile(sorted, share) {
	if (!sorted.length)
		return NaN;

	const at = (sorted.length - 1) * share;
	const below = Math.floor(at);
	const above = Math.min(below + 1, sorted.length - 1);

	return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

function sortedNumbers(values) {
	return values.filter(Number.isFinite).sort((a, b) => a - b);
}
