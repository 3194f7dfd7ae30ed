// SPDX-License-Identifier: Apache-2.0
// Figures for people. The exact ones stand in tooltips, in the tables' "exact" view and in the CSV files.

const steps = {
	ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
	bytes: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
};

const wholeFormat = new Intl.NumberFormat('en-US');
const partFormat = new Intl.NumberFormat('en-US', {maximumSignificantDigits: 4});

// Four digits that count, without an exponent, with commas in what is long.
function formatNumber(value) {
	if (!Number.isFinite(value))
		return '';
	return (Number.isInteger(value) ? wholeFormat : partFormat).format(value);
}

function formatSteps(value, unit) {
	const [size, name] = steps[unit].find(([least]) => Math.abs(value) >= least) ||
		[1, steps[unit][steps[unit].length - 1][1]];

	return `${formatNumber(Number((value / size).toPrecision(4)))} ${name}`;
}

function formatNs(ns) {
	return Number.isFinite(ns) ? formatSteps(ns, 'ns') : '';
}

function formatPercent(percent) {
	if (!Number.isFinite(percent))
		return '';
	if (percent !== 0 && Math.abs(percent) < 0.05)
		return `${percent.toPrecision(1)} %`;
	return `${percent.toFixed(1)} %`;
}

// What of a name there is room for in a sentence; tooltips have all of it.
function shorten(name, most = 48) {
	return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

function formatCount(n, one, many = `${one}s`) {
	return `${formatNumber(n)} ${n === 1 ? one : many}`;
}

// Units as columns have them at the end of their names.
const unitNames = {
	gbps: 'GB/s', mhz: 'MHz', ppm: 'ppm', cycles: 'cycles', joules: 'J', watts: 'W', percent: '%',
};

function unitOf(column) {
	if (column.unit)
		return Object.keys(unitNames).find((unit) => unitNames[unit] === column.unit) || column.unit;

	const found = column.name.match(/(?:^|_)(ns|bytes|percent|gbps|mhz|ppm|cycles|joules|watts)(?:_|$)/);

	return found ? found[1] : '';
}

function formatValue(value, unit) {
	if (!Number.isFinite(value))
		return '';
	if (steps[unit])
		return formatSteps(value, unit);
	if (unit === 'percent')
		return formatPercent(value);
	if (unit === 'mhz')
		return `${Number(value.toPrecision(9))} MHz`;
	return unitNames[unit] ? `${formatNumber(value)} ${unitNames[unit]}` : formatNumber(value);
}

// Columns of numbers that name something and count nothing.
const nameColumns = new Set(['rank', 'pid', 'tid', 'device', 'core', 'queue', 'job', 'correlation',
	'number', 'iteration', 'domain', 'segment', 'component', 'group', 'peer', 'address', 'stream',
	'id', 'window', 'step', 'launch']);

// What B has more than A, or how far that may be off.
const changeColumns = new Set(['difference_ns', 'change_ns', 'change_percent', 'error_percent']);

function isNumeric(column) {
	return column.type !== 'text';
}

// Times since the Unix epoch.
function isTime(column) {
	return /(^|_)(start|end|first|last|time|begin)_ns$/.test(column.name);
}

function formatCell(column, value) {
	if (value === null || value === undefined || value === '')
		return '';
	if (!isNumeric(column) || nameColumns.has(column.name))
		return String(value);
	if (isTime(column) && startTime)
		return `+${formatNs(sinceStart(value))}`;

	const text = formatValue(Number(value), unitOf(column));

	return changeColumns.has(column.name) && !column.name.startsWith('error') && Number(value) > 0 ? `+${text}` : text;
}
