// SPDX-License-Identifier: Apache-2.0
// Flame graphs of folded stacks ("a;b;c" and a value): the root on top, width = time, drawn as SVG of our own.

const flameRow = 20;
const flameDepth = 60;

function newFrame(name, parent) {
	return {name, parent, self: 0, total: 0, children: new Map()};
}

// `stacks`: [{frames: [...], value}]; what is below 0 has no width and is left out, as is what no 64 bits hold.
function foldStacks(stacks, rootName) {
	const root = newFrame(rootName, null);

	for (const {frames, value} of stacks) {
		let at = root;

		if (!(value > 0 && value < 2 ** 64))
			continue;
		root.total += value;
		for (const name of frames) {
			if (!at.children.has(name))
				at.children.set(name, newFrame(name, at));
			at = at.children.get(name);
			at.total += value;
		}
		at.self += value;
	}
	return root;
}

class FlameView {
	constructor(title, what, root, format = formatNs) {
		this.root = root;
		this.top = root;
		this.format = format;
		this.search = '';
		this.says = element('p', {class: 'says', role: 'status'}, ' ');
		this.picture = svg('svg', {class: 'flame', role: 'group', 'aria-label': title, tabindex: '0',
			keydown: (event) => this.key(event)});
		this.whole = element('button', {type: 'button', click: () => this.zoom(this.root)}, 'whole');

		const search = element('input', {type: 'search', placeholder: 'search', 'aria-label': `Search in ${title}`,
			input: () => this.find(search.value)});

		this.element = figure(title, what, element('div', {class: 'tools'}, search, this.whole,
			element('span', {class: 'status'}, `${formatNs(root.total)} in all. Click, or Enter, zooms in; arrows move; Escape shows the whole.`)),
		this.picture, this.says);
		drawWhenShown(this.picture, () => this.draw());
	}

	draw() {
		const width = this.picture.clientWidth || 900;
		const rows = [];

		this.current = this.current || this.top;
		this.place(this.top, 0, 0, width, rows);

		const depth = Math.max(...rows.map((row) => row.depth)) + 1;

		this.width = width;
		this.picture.setAttribute('viewBox', `0 0 ${width} ${depth * flameRow}`);
		this.picture.setAttribute('height', depth * flameRow);
		this.picture.replaceChildren(...rows.map((row) => this.frame(row)));
		this.whole.disabled = this.top === this.root;
	}

	place(frame, depth, x, width, rows) {
		if (width < 0.4 || depth > flameDepth)
			return;
		rows.push({frame, depth, x, width});

		let at = x;
		const children = [...frame.children.values()].sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));

		for (const child of children) {
			const share = width * child.total / frame.total;

			this.place(child, depth + 1, at, share, rows);
			at += share;
		}
	}

	frame({frame, depth, x, width}) {
		const fits = Math.floor((width - 6) / 6.6);
		const text = frame.name.length <= fits ? frame.name : fits > 2 ? `${frame.name.slice(0, fits - 1)}…` : '';
		const isFound = this.search && frame.name.toLowerCase().includes(this.search);
		const made = svg('g', {class: `frame shade${hash(frame.name) % 5}${isFound ? ' found' : ''}${frame === this.current ? ' current' : ''}`,
			role: 'img', 'aria-label': this.tell(frame), click: () => this.zoom(frame), mouseenter: () => this.say(frame)},
		svg('rect', {x, y: depth * flameRow, width: Math.max(0.4, width - 0.6), height: flameRow - 1}),
		text ? svg('text', {x: x + 3, y: depth * flameRow + 14}, text) : null);

		return made;
	}

	tell(frame) {
		const self = frame.self && frame.self !== frame.total ? `, itself ${this.format(frame.self)}` : '';

		return `${frame.name}: ${this.format(frame.total)}, ${formatPercent(100 * frame.total / this.root.total)} of all${self}`;
	}

	say(frame) {
		this.says.textContent = this.tell(frame);
	}

	zoom(frame) {
		this.top = frame;
		this.current = frame;
		this.draw();
		this.say(frame);
	}

	find(text) {
		this.search = text.toLowerCase();

		const found = this.search ? this.sumFound(this.root) : 0;

		this.draw();
		this.says.textContent = this.search ?
			`Found: ${this.format(found)}, ${formatPercent(100 * found / this.root.total)} of all` : ' ';
	}

	// What is inside a found frame is found already.
	sumFound(frame) {
		if (frame.name.toLowerCase().includes(this.search))
			return frame.total;
		return [...frame.children.values()].reduce((sum, child) => sum + this.sumFound(child), 0);
	}

	key(event) {
		const at = this.current;
		const sorted = (frame) => [...frame.children.values()].sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
		const beside = at.parent ? sorted(at.parent) : [at];
		const next = {
			ArrowDown: sorted(at)[0], ArrowUp: at === this.top ? at.parent : at.parent,
			ArrowRight: beside[beside.indexOf(at) + 1], ArrowLeft: beside[beside.indexOf(at) - 1],
			Enter: at, Escape: this.root,
		};

		if (!(event.key in next))
			return;
		event.preventDefault();
		if (event.key === 'Enter' || event.key === 'Escape')
			this.zoom(next[event.key]);
		else if (next[event.key])
			this.goTo(next[event.key]);
	}

	// Outside of what is shown, all is shown.
	goTo(frame) {
		let above = frame;

		while (above && above !== this.top)
			above = above.parent;
		if (!above)
			this.top = this.root;
		this.current = frame;
		this.draw();
		this.say(frame);
	}
}

function hash(text) {
	let value = 0;

	for (let i = 0; i < text.length; i++)
		value = (value * 31 + text.charCodeAt(i)) >>> 0;
	return value;
}
