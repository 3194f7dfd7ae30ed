// SPDX-License-Identifier: Apache-2.0
// A strip of time for each core and processor: what it was at, zoomed together, drawn as SVG of our own.

const stripRow = 15;

// `strips`: [{name, rows: [{start, end, name, tip}]}] in ns since the start of the trace.
class StripsView {
	constructor(title, what, strips) {
		this.strips = strips.map((strip) => ({...strip, lanes: layLanes(strip.rows)}));
		this.first = Math.min(...strips.map((strip) => Math.min(...strip.rows.map((row) => row.start))));
		this.last = Math.max(...strips.map((strip) => Math.max(...strip.rows.map((row) => row.end))));
		this.from = this.first;
		this.to = this.last;
		this.range = element('span', {class: 'status', role: 'status'});
		this.says = element('p', {class: 'says'}, ' ');
		this.picture = svg('svg', {class: 'strips', role: 'group', 'aria-label': title, tabindex: '0',
			keydown: (event) => this.key(event), wheel: (event) => this.wheel(event),
			pointerdown: (event) => this.drag(event), dblclick: () => this.show(this.first, this.last)});

		const button = (text, name, click) => element('button', {type: 'button', 'aria-label': name, 'data-tip': name, click}, text);

		this.element = figure(title, what, element('div', {class: 'tools'}, button('+', 'Zoom in', () => this.zoom(0.5)),
			button('−', 'Zoom out', () => this.zoom(2)), button('←', 'Earlier', () => this.move(-0.5)),
			button('→', 'Later', () => this.move(0.5)), button('whole', 'Show the whole', () => this.show(this.first, this.last)), this.range),
		this.picture, this.says);
		drawWhenShown(this.picture, () => this.draw());
	}

	show(from, to) {
		const least = Math.min(10, this.last - this.first) || 1;
		const span = Math.min(Math.max(to - from, least), this.last - this.first || 1);

		this.from = Math.min(Math.max(from, this.first), this.last - span);
		this.to = this.from + span;
		this.draw();
	}

	zoom(factor, middle = (this.from + this.to) / 2) {
		const share = (middle - this.from) / (this.to - this.from);
		const span = (this.to - this.from) * factor;

		this.show(middle - span * share, middle + span * (1 - share));
	}

	move(share) {
		const by = (this.to - this.from) * share;

		this.show(this.from + by, this.to + by);
	}

	timeAt(event) {
		const box = this.picture.getBoundingClientRect();
		const share = (event.clientX - box.left - this.left) / (box.width - this.left);

		return this.from + Math.min(1, Math.max(0, share)) * (this.to - this.from);
	}

	wheel(event) {
		if (!event.ctrlKey && !event.shiftKey)
			return;
		event.preventDefault();
		this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
	}

	drag(event) {
		const start = this.timeAt(event);
		const end = (up) => {
			const stop = this.timeAt(up);

			window.removeEventListener('pointerup', end);
			if (Math.abs(stop - start) > (this.to - this.from) / 200)
				this.show(Math.min(start, stop), Math.max(start, stop));
		};

		window.addEventListener('pointerup', end);
	}

	key(event) {
		const does = {'+': () => this.zoom(0.5), '-': () => this.zoom(2), ArrowLeft: () => this.move(-0.25),
			ArrowRight: () => this.move(0.25), Escape: () => this.show(this.first, this.last)}[event.key];

		if (does) {
			event.preventDefault();
			does();
		}
	}

	draw() {
		const width = this.picture.clientWidth || 900;
		const made = [];
		let y = 0;

		this.left = Math.min(190, width / 3);
		this.perNs = (width - this.left) / (this.to - this.from || 1);
		for (const strip of this.strips) {
			made.push(svg('line', {x1: 0, x2: width, y1: y, y2: y, class: 'border'}),
				svg('text', {x: 2, y: y + 12, class: 'name'}, strip.name));
			strip.lanes.forEach((lane, i) => lane.forEach((row) => made.push(this.piece(row, y + i * stripRow + 1))));
			y += strip.lanes.length * stripRow + 4;
		}
		this.picture.setAttribute('viewBox', `0 0 ${width} ${y}`);
		this.picture.setAttribute('height', y);
		this.picture.replaceChildren(...made);
		this.range.textContent = `${formatNs(this.from)} to ${formatNs(this.to)} after the start`;
	}

	piece(row, y) {
		const start = Math.max(row.start, this.from);
		const end = Math.min(row.end, this.to);

		if (end < start)
			return '';

		const x = this.left + (start - this.from) * this.perNs;
		const width = Math.max(0.7, (end - start) * this.perNs);
		const fits = Math.floor((width - 4) / 6.2);
		const text = row.name.length <= fits ? row.name : fits > 2 ? `${row.name.slice(0, fits - 1)}…` : '';

		return svg('g', {class: `frame shade${hash(row.name) % 5}`, mouseenter: () => {
			this.says.textContent = row.tip;
		}}, svg('rect', {x, y, width, height: stripRow - 2}), text ? svg('text', {x: x + 2, y: y + 11}, text) : null);
	}
}

// Rows in lanes, so that none is drawn over another: those inside of others below them.
function layLanes(rows) {
	const lanes = [];

	rows.sort((a, b) => a.start - b.start || b.end - a.end);
	for (const row of rows) {
		const lane = lanes.find((taken) => taken[taken.length - 1].end <= row.start);

		if (lane)
			lane.push(row);
		else
			lanes.push([row]);
	}
	return lanes;
}
