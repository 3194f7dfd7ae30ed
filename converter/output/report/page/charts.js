// SPDX-License-Identifier: Apache-2.0
// Charts that are zoomed, drawn by dygraphs where the page was built with it. Names of series are handed to it as
// numbers, and legends made here: the library takes labels for markup.

const hasCharts = typeof window.Dygraph === 'function';
const charts = [];
const strokes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [12, 3], [6, 2, 2, 2]];

function themeColour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function seriesColour(i) {
	return themeColour(`--series${i % 8}`);
}

function chartColours(n) {
	return {
		colors: Array.from({length: n}, (_, i) => seriesColour(i)),
		axisLineColor: themeColour('--line'),
		gridLineColor: themeColour('--grid'),
		rangeSelectorPlotStrokeColor: themeColour('--line'),
		rangeSelectorPlotFillColor: themeColour('--grid'),
	};
}

function repaintCharts() {
	charts.forEach(({chart, names}) => chart.updateOptions(chartColours(names.length)));
}

// Points of the shape of their series: circle, square, triangle, cross.
function drawShape(shape, context, x, y, colour, size) {
	context.beginPath();
	context.strokeStyle = colour;
	context.fillStyle = colour;
	context.lineWidth = 1.5;
	if (shape % 4 === 0)
		context.arc(x, y, size, 0, 2 * Math.PI);
	else if (shape % 4 === 1)
		context.rect(x - size, y - size, 2 * size, 2 * size);
	else if (shape % 4 === 2)
		context.lineTo(x, y - size), context.lineTo(x + size, y + size), context.lineTo(x - size, y + size), context.closePath();
	else
		context.moveTo(x - size, y - size), context.lineTo(x + size, y + size), context.moveTo(x + size, y - size), context.lineTo(x - size, y + size);
	if (shape % 8 < 3)
		context.fill();
	context.stroke();
}

const withShape = (shape) => (g, name, context, x, y, colour, size) => drawShape(shape, context, x, y, colour, size);

function chartLegend(names, areLines) {
	return element('p', {class: 'legend'}, names.map((name, i) => {
		const mark = svg('svg', {width: 28, height: 12, 'aria-hidden': 'true'}, areLines ?
			svg('line', {x1: 0, x2: 28, y1: 6, y2: 6, class: `series${i % 8}`, 'stroke-dasharray': strokes[i % 8].join(' ')}) :
			svg('text', {x: 8, y: 11, class: `series${i % 8}`}, '●■▲✕'[i % 4]));

		return element('span', {}, mark, ` ${name}`);
	}));
}

function withoutCharts() {
	return element('p', {class: 'missing'}, 'flextrace was built without its chart library (libjs-dygraphs), which draws this. The figures stand in the table.');
}

function zoomButtons(chart) {
	const zoom = (factor) => {
		const [from, to] = chart.xAxisRange();
		const [first, last] = chart.xAxisExtremes();
		const half = (to - from) * factor / 2;
		const middle = (from + to) / 2;

		chart.updateOptions({dateWindow: [Math.max(first, middle - half), Math.min(last, middle + half)]});
	};
	const move = (share) => {
		const [from, to] = chart.xAxisRange();
		const by = (to - from) * share;

		chart.updateOptions({dateWindow: [from + by, to + by]});
	};
	const button = (text, name, click) => element('button', {type: 'button', 'aria-label': name, 'data-tip': name, click}, text);

	return element('div', {class: 'zoom', role: 'group', 'aria-label': 'zoom'}, button('+', 'Zoom in', () => zoom(0.5)),
		button('−', 'Zoom out', () => zoom(2)), button('←', 'Earlier', () => move(-0.5)), button('→', 'Later', () => move(0.5)),
		button('whole', 'Show the whole', () => chart.resetZoom()));
}

/*
 * A chart of {names, points: [[x, y of each series]], formatX, formatY, labelX, labelY, areLines, isStep, logX, logY,
 * text: what it shows in words, hover: (row, series) => text, group}. Charts of one group are zoomed together.
 */
function drawChart(of) {
	if (!hasCharts)
		return withoutCharts();
	of.points = drawablePoints(of);
	if (!of.points.some((point) => point.some((value, i) => i > 0 && Number.isFinite(value) && value !== null)))
		return element('p', {class: 'missing'}, 'There is nothing to draw: no value is known.');

	const box = element('div', {class: `chart ${of.isSmall ? 'small' : ''}`, role: 'img', 'aria-label': of.text});
	const says = element('p', {class: 'says', 'aria-hidden': 'true'}, ' ');
	const holder = element('div', {class: 'charted'}, of.names.length > 1 || !of.areLines ? chartLegend(of.names, of.areLines) : null, box, says);

	drawWhenShown(box, () => {
		const chart = new window.Dygraph(box, of.points, chartOptions(of, says));

		charts.push({chart, names: of.names, group: of.group});
		if (!of.isSmall)
			holder.append(zoomButtons(chart));
	});
	return holder;
}

// What a scale can show: nothing below 0 on one of decades, and nothing beyond what 64 bits hold.
const isShowable = (value, isLog) => Math.abs(value) < 2 ** 64 && !(isLog && value <= 0);

function drawablePoints({points, logY}) {
	return points.map((point) => point.map((value, i) => i === 0 || isShowable(value, logY) ? value : null));
}

function chartOptions(of, says) {
	const series = {};

	of.names.forEach((_, i) => {
		series[`s${i}`] = {strokePattern: strokes[i % 8].length ? strokes[i % 8] : null,
			drawPointCallback: withShape(i), drawHighlightPointCallback: withShape(i), fillGraph: Boolean(of.isStep) && i === 0};
	});
	return {
		...chartColours(of.names.length),
		labels: ['x', ...of.names.map((_, i) => `s${i}`)], series, legend: 'never',
		strokeWidth: of.areLines ? 1.6 : 0, drawPoints: !of.areLines || Boolean(of.withPoints), pointSize: 3.5, highlightCircleSize: 5,
		stepPlot: Boolean(of.isStep), fillAlpha: 0.25, connectSeparatedPoints: !of.isStep,
		xlabel: of.labelX, ylabel: of.labelY, includeZero: !of.logY, valueRange: of.logY ? decadeRange(of.points) : null, logscale: Boolean(of.logY),
		xRangePad: 8, animatedZooms: false, dateWindow: of.areLines ? null : scatterWindow(of.points, of.logX),
		axes: {
			x: {axisLabelFormatter: (x) => of.formatX(Number(x)), logscale: Boolean(of.logX), pixelsPerLabel: 90, axisLabelWidth: 80},
			y: {axisLabelFormatter: (y) => of.formatY(Number(y)), axisLabelWidth: 74, pixelsPerLabel: of.isSmall ? 30 : 40, labelsKMG2: Boolean(of.isBytes)},
		},
		highlightCallback: (event, x, shown, row) => {
			says.textContent = of.hover ? of.hover(row, shown) : `${of.formatX(x)}: ${shown.map((point) =>
				`${of.names[Number(point.name.slice(1))]} ${of.formatY(point.yval)}`).join(', ')}`;
		},
		unhighlightCallback: () => {
			says.textContent = ' ';
		},
		drawCallback: (chart, isFirst) => {
			if (of.group && !isFirst)
				zoomTogether(chart, of.group);
		},
	};
}

let isZooming = false;

function zoomTogether(chart, group) {
	if (isZooming)
		return;
	isZooming = true;
	charts.filter((other) => other.group === group && other.chart !== chart).forEach((other) =>
		other.chart.updateOptions({dateWindow: chart.xAxisRange()}));
	isZooming = false;
}

// Charts measure their box: they are drawn once it stands in the page.
const undrawn = new Map();

function drawWhenShown(box, draw) {
	undrawn.set(box, draw);
}

function drawShown() {
	for (const [box, draw] of undrawn) {
		if (!box.isConnected || !box.clientWidth)
			continue;
		undrawn.delete(box);
		draw();
	}
}

// Points of several series by x: [[x, y0, y1, ...]]. Where a series has none: null, or what it last had.
function joinSeries(series, isHeld = false) {
	const byX = new Map();

	series.forEach((points, i) => points.forEach(([x, y]) => {
		if (!isShowable(x))
			return;
		if (!byX.has(x))
			byX.set(x, new Array(series.length).fill(null));
		byX.get(x)[i] = Number.isFinite(y) ? y : null;
	}));

	const points = [...byX].sort((a, b) => a[0] - b[0]).map(([x, values]) => [x, ...values]);

	if (isHeld)
		points.forEach((point, i) => point.forEach((value, at) => {
			if (value === null && i > 0)
				point[at] = points[i - 1][at];
		}));
	return points;
}

// What a scale of decades shows of values, with room above and below.
function decadeRange(points) {
	const values = sortedNumbers(points.flatMap((point) => point.slice(1).map((value) => value === null ? NaN : value)));
	const room = Math.max(1.3, (values[values.length - 1] / values[0]) ** 0.06);

	return [values[0] / room, values[values.length - 1] * room];
}

// The range of scattered points, with room at its ends: what has one size stands in the middle.
function scatterWindow(points, isLog) {
	const first = points[0][0];
	const last = points[points.length - 1][0];
	const room = isLog ? (last / first) ** 0.06 : (last - first) * 0.06;

	if (first === last)
		return isLog ? [first / 4, first * 4] : [first - 1, first + 1];
	return isLog ? [first / room, last * room] : [first - room, last + room];
}
