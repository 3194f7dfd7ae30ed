// SPDX-License-Identifier: Apache-2.0
// A table that is searched, sorted, shown in exact figures, and saved as CSV.

const pageRows = 12;
// Of a comparison, what stands in percent as well, or in all rows.
const detailColumns = new Set(data.comparison ? ['of', 'a_total_ns', 'b_total_ns', 'change_ns', 'error_ns', 'a_repeats', 'b_repeats'] : []);
const isCompact = (name) => name === 'host' || name === 'pid';

// As our CSV files are: RFC 4180, an apostrophe before what a spreadsheet would run.
function csvCell(column, value) {
	let text = value === null || value === undefined ? '' : String(value);

	if (!isNumeric(column) && /^'*[=+\-@\t\r\n]/.test(text))
		text = `'${text}`;
	return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function csvOf(table, rows) {
	const lines = [table.columns.map((column) => csvCell({type: 'text'}, column.name)).join(',')];

	for (const row of rows)
		lines.push(table.columns.map((column, i) => csvCell(column, row[i])).join(','));
	return `${lines.join('\n')}\n`;
}

// Numbers by value, also those that are texts of digits; what is empty comes last in both directions.
function compareCells(a, b, numeric) {
	if (numeric) {
		const difference = Number(a) - Number(b);

		if (difference === 0 && typeof a === 'string' && typeof b === 'string')
			return /^-?\d+$/.test(a) && /^-?\d+$/.test(b) ? Number(BigInt(a) - BigInt(b)) : 0;
		return difference;
	}
	return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

const isEmptyCell = (value) => value === null || value === undefined || value === '';

class TableView {
	constructor(table) {
		this.table = table;
		this.sortPlace = -1;
		this.isDescending = false;
		this.search = '';
		this.isChosen = () => true;
		this.isExact = false;
		this.shown = pageRows;
		this.rows = table.rows;
		this.places = this.filledPlaces();
	}

	// Columns with something in them; host and pid only where ranks do not tell processes apart.
	filledPlaces() {
		const {columns, rows, places} = this.table;
		const all = columns.map((_, i) => i).filter((i) => !detailColumns.has(columns[i].name) && rows.some((row) => !isEmptyCell(row[i])));
		const rank = places.get('rank');
		const areRanked = rank !== undefined && rows.every((row) => !isEmptyCell(row[rank]) ||
			isEmptyCell(row[places.get('pid')]));

		return areRanked ? all.filter((i) => !isCompact(columns[i].name)) : all;
	}

	// A table that is closed is made when it is opened.
	build(isOpen) {
		const {table} = this;
		const summary = element('summary', {}, element('h3', {}, table.title), element('span', {class: 'status'}, this.countText()));

		this.root = element('details', {class: 'table', id: `table-${table.name}`, 'data-table': table.name, open: isOpen,
			toggle: () => this.fillIn()}, summary);
		if (isOpen)
			this.fillIn();
		return this.root;
	}

	fillIn() {
		const {table} = this;

		if (this.body)
			return;

		this.status = element('span', {class: 'status', role: 'status'});
		this.head = element('tr');
		this.body = element('tbody');
		this.more = element('button', {type: 'button', click: () => this.showMore()});
		this.root.append(...[table.what ? element('p', {class: 'what'}, table.what) : null,
			this.buildTools(),
			element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': table.title},
				element('table', {}, element('caption', {class: 'hidden'}, table.title),
					element('thead', {}, this.head), this.body)),
			this.more].filter(Boolean));
		this.update();
	}

	buildTools() {
		const {table} = this;
		const search = element('input', {type: 'search', placeholder: 'search',
			'aria-label': `Search in ${table.title}`, input: () => this.setSearch(search.value)});
		const exact = element('input', {type: 'checkbox', change: () => this.setExact(exact.checked)});
		const hidden = table.columns.length - this.places.length;
		const all = element('input', {type: 'checkbox', change: () => this.setAllColumns(all.checked)});

		return element('div', {class: 'tools'}, search, this.buildChoice(),
			element('label', {}, exact, ' exact'),
			hidden ? element('label', {}, all, ` ${formatCount(hidden, 'more column')}`) : null,
			element('button', {type: 'button', class: 'save', 'data-tip': 'The rows below as CSV: those found, in this order, with all columns and exact figures.',
				click: () => download(`${table.name}.csv`, csvOf(table, this.rows), 'text/csv')}, 'Save as CSV'),
			table.file.includes('.') ? element('a', {href: encodeURI(table.file), 'data-tip': 'The whole table, in the directory of this page.'}, table.file) : null,
			this.status);
	}

	setSearch(text) {
		this.search = text.toLowerCase();
		this.shown = pageRows;
		this.update();
	}

	// Rows of one verdict, or of one status.
	buildChoice() {
		const {table} = this;
		const column = table.oneOf('verdict', 'status');
		const groups = column ? groupRows(table.rows, (row) => table.text(row, column)) : new Map();

		if (groups.size < 2 || groups.size > 12)
			return null;

		const select = element('select', {'aria-label': `${column} of ${table.title}`, change: () => this.setChoice(column, select.value)},
			element('option', {value: ''}, `any ${column}`),
			[...groups].filter(([name]) => name).map(([name, rows]) => element('option', {value: name}, `${name} (${formatNumber(rows.length)})`)));

		return select;
	}

	setChoice(column, value) {
		this.isChosen = value ? (row) => this.table.text(row, column) === value : () => true;
		this.shown = pageRows;
		this.update();
	}

	setExact(isExact) {
		this.isExact = isExact;
		this.update();
	}

	setAllColumns(isAll) {
		this.places = isAll ? this.table.columns.map((_, i) => i) : this.filledPlaces();
		this.update();
	}

	sortBy(place) {
		const numeric = isNumeric(this.table.columns[place]);

		this.isDescending = this.sortPlace === place ? !this.isDescending : numeric;
		this.sortPlace = place;
		this.update();
	}

	showMore() {
		this.shown = this.shown < 500 ? this.shown * 4 : this.rows.length;
		this.update();
	}

	find() {
		const {columns, rows} = this.table;
		const isFound = (row) => row.some((value, i) => !isEmptyCell(value) &&
			(String(value).toLowerCase().includes(this.search) ||
			formatCell(columns[i], value).toLowerCase().includes(this.search)));

		return rows.filter((row) => this.isChosen(row) && (!this.search || isFound(row)));
	}

	sort(rows) {
		const place = this.sortPlace;
		const numeric = place >= 0 && isNumeric(this.table.columns[place]);
		const sign = this.isDescending ? -1 : 1;

		if (place < 0)
			return rows;
		return rows.sort((a, b) => isEmptyCell(a[place]) - isEmptyCell(b[place]) ||
			sign * compareCells(a[place], b[place], numeric));
	}

	update() {
		this.rows = this.sort(this.find());
		this.head.replaceChildren(...this.places.map((place) => this.headCell(place)));
		this.body.replaceChildren(...this.rows.slice(0, this.shown).map((row) => this.bodyRow(row)));
		this.more.hidden = this.rows.length <= this.shown;
		this.more.textContent = `Show more of ${formatCount(this.rows.length, 'row')}`;
		this.status.textContent = this.rows.length < this.table.rows.length ? `${formatNumber(this.rows.length)} found` : '';
	}

	countText() {
		const {table} = this;
		const here = formatCount(table.rows.length, 'row');
		const all = table.isCut ? `the first ${here} of ${formatNumber(table.rowCount)}` : here;

		return all;
	}

	headCell(place) {
		const column = this.table.columns[place];
		const isSorted = place === this.sortPlace;
		const order = isSorted ? (this.isDescending ? 'descending' : 'ascending') : null;
		const mark = isSorted ? (this.isDescending ? ' ▼' : ' ▲') : '';

		return element('th', {scope: 'col', 'aria-sort': order, class: isNumeric(column) ? 'number' : null},
			element('button', {type: 'button', 'data-tip': columnMeaning(column), click: () => {
				this.sortBy(place);
				this.head.children[this.places.indexOf(place)].firstChild.focus();
			}}, this.isExact ? column.name : headingOf(column), mark));
	}

	bodyRow(row) {
		return element('tr', {}, this.places.map((place) => this.bodyCell(this.table.columns[place], row[place])));
	}

	bodyCell(column, value) {
		const exact = isEmptyCell(value) ? '' : String(value);
		const text = this.isExact ? exact : formatCell(column, value);
		const share = !this.isExact && unitOf(column) === 'percent' && !changeColumns.has(column.name) && exact !== '' ? Number(value) : NaN;
		const cell = element('td', {class: isNumeric(column) ? 'number' : column.isProse ? 'text prose' : 'text',
			title: text !== exact || text.length > 40 ? exact : null}, text);

		if (share >= 0 && share <= 100)
			cell.style.setProperty('--part', `${share}%`);
		return cell;
	}
}

const placedTables = new Set();

// The view of a table that stands in this section; null where the trace has no such table.
function tableView(name, isOpen = true) {
	if (!tables.has(name) || placedTables.has(name))
		return null;
	placedTables.add(name);
	return new TableView(tables.get(name)).build(isOpen);
}

// The tables of a section: the first `openCount` of them are open.
function tableViews(openCount, ...names) {
	return names.filter((name) => tables.has(name) && !placedTables.has(name)).map((name, i) => tableView(name, i < openCount));
}
