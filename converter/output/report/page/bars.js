// SPDX-License-Identifier: Apache-2.0
// Bars and histograms, which need no library. Parts differ by pattern as well as by colour, and have their names in them.

// A bar for each {name, value, text, tip}: `name` first, the figure last.
function barList(items, largest = Math.max(...items.map((item) => item.value))) {
	return element('ol', {class: 'bars'}, items.map((item) => {
		const bar = element('span', {class: 'bar'}, element('span', {class: 'fill'}));

		bar.firstChild.style.width = item.value > 0 ? `max(1px, ${100 * item.value / largest}%)` : '0';
		return element('li', {},
			element('span', {class: 'name', title: item.name}, item.name), bar,
			explained(item.text, item.tip || item.name, {class: 'figure'}));
	}));
}

// One bar of several parts for each {name, parts: [{name, value, part}]}; `part` is the number of the pattern.
function stackedBars(items, format = formatNs) {
	const names = new Map();
	const largest = Math.max(...items.map((item) => item.parts.reduce((sum, part) => sum + Math.max(0, part.value), 0)));

	items.forEach((item) => item.parts.forEach((part) => names.set(part.name, part.part)));

	const legend = element('p', {class: 'legend'}, [...names].map(([name, part]) =>
		element('span', {}, element('span', {class: `swatch part${part}`}), ` ${name}`)));

	return element('div', {}, legend, element('ol', {class: 'bars stacked'}, items.map((item) =>
		element('li', {}, element('span', {class: 'name', title: item.name}, item.name), stackedBar(item, largest, format),
			element('span', {class: 'figure'}, item.text || '')))));
}

function stackedBar(item, largest, format) {
	const whole = item.parts.reduce((sum, part) => sum + Math.max(0, part.value), 0);

	return element('span', {class: 'bar'}, item.parts.filter((part) => part.value > 0).map((part) => {
		const share = 100 * part.value / whole;
		const made = element('span', {class: `fill part${part.part}`, tabindex: '0',
			'data-tip': `${item.name}: ${part.name} ${format(part.value)}, ${formatPercent(share)}${part.what ? `. ${part.what}` : ''}`},
		100 * part.value / largest > 9 ? element('span', {}, formatPercent(share)) : '');

		made.style.width = `${100 * part.value / largest}%`;
		return made;
	}));
}

// How many values fall into each of up to `n` steps of equal ratio (they range over decades), from 0 on.
function histogram(values, format, n = 24) {
	const sorted = sortedNumbers(values);
	const positive = sorted.filter((value) => value > 0);

	if (!sorted.length)
		return null;

	const low = Math.log(positive[0] || 1);
	const high = Math.log(positive[positive.length - 1] || 1);
	const width = (high - low) / n || 1;
	const counts = new Array(high > low ? n : 1).fill(0);

	positive.forEach((value) => counts[Math.min(counts.length - 1, Math.floor((Math.log(value) - low) / width))]++);

	const bins = counts.map((count, i) => ({count, from: Math.exp(low + i * width), to: Math.exp(low + (i + 1) * width)}));

	if (sorted.length > positive.length)
		bins.unshift({count: sorted.length - positive.length, from: sorted[0], to: 0});
	return columnChart(bins, format);
}

function columnChart(bins, format) {
	const largest = Math.max(...bins.map((bin) => bin.count));
	const columns = bins.map((bin) => {
		const range = bin.to === 0 ? '0 or less' : `${format(bin.from)} to ${format(bin.to)}`;
		const column = element('span', {class: 'column', tabindex: '0', 'data-tip': `${range}: ${formatNumber(bin.count)}`},
			element('span', {class: 'fill'}));

		column.firstChild.style.height = `${100 * bin.count / largest}%`;
		return column;
	});
	const middle = bins[Math.floor(bins.length / 2)];

	return element('div', {class: 'histogram', role: 'group'},
		element('span', {class: 'top'}, `${formatNumber(largest)} at most in one column`), element('div', {class: 'columns'}, columns),
		element('div', {class: 'axis'}, element('span', {}, format(bins[0].to === 0 ? 0 : bins[0].from)),
			bins.length > 2 ? element('span', {}, format(middle.from)) : null, element('span', {}, format(bins[bins.length - 1].to))));
}

// Intervals {name, low, middle, high} on a scale of decades: error bars.
function errorBars(items) {
	const values = sortedNumbers(items.flatMap((item) => [item.low, item.middle, item.high])).filter((value) => value > 0);
	const from = Math.floor(Math.log10(values[0] || 1));
	const to = Math.max(from + 1, Math.ceil(Math.log10(values[values.length - 1] || 10)));
	const place = (value) => `${value > 0 ? 100 * (Math.log10(value) - from) / (to - from) : 0}%`;
	const ticks = [];

	for (let decade = from; decade <= to; decade++) {
		const tick = element('span', {class: 'tick'}, formatNs(10 ** decade));

		tick.style.left = place(10 ** decade);
		ticks.push(tick);
	}
	return element('div', {class: 'errors'}, element('ol', {class: 'bars'}, items.map((item) => {
		const line = element('span', {class: 'range'});
		const dot = element('span', {class: 'dot'});

		line.style.left = place(item.low);
		line.style.width = `calc(${place(item.high)} - ${place(item.low)})`;
		dot.style.left = place(item.middle);
		return element('li', {}, element('span', {class: 'name', title: item.name}, item.name),
			element('span', {class: 'bar'}, line, dot), explained(item.text, item.tip, {class: 'figure'}));
	})), element('div', {class: 'ticks'}, element('span', {class: 'name'}), element('span', {class: 'scale'}, ticks),
		element('span', {class: 'figure'})));
}
