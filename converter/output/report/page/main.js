// SPDX-License-Identifier: Apache-2.0
// The page: its sections, each where there is something to tell, and what surrounds them.

const hasTable = (...names) => names.some((name) => tables.has(name));

function hasCores() {
	const table = tables.get('events');

	return Boolean(table && table.has('core', 'start_ns', 'end_ns') && table.rows.some((row) => table.cell(row, 'core') !== null));
}

function hasWaits() {
	const table = tables.get('collectives');

	return Boolean(table && table.has('wait_ns') && table.rows.some((row) => table.cell(row, 'wait_ns') !== null));
}

const sections = [
	{id: 'losses', title: 'Losses and warnings', exists: hasLosses, build: buildLosses},
	{id: 'ran', title: 'What ran', exists: () => true, build: buildRan},
	{id: 'time', title: 'Where the time went', exists: () => hasTable('kernels', 'runtime', 'key_averages', 'breakdown', 'active'), build: buildTime},
	{id: 'overview', title: 'Over time', exists: () => hasTable('overview'), build: buildOverview},
	{id: 'flames', title: 'Flame graphs', exists: () => hasTable('stacks'), build: buildFlames},
	{id: 'communication', title: 'Communication', exists: () => hasTable('communication', 'stragglers', 'collectives', 'communication_matrix', 'bandwidth'), build: buildCommunication},
	{id: 'waits', title: 'Waits', exists: hasWaits, build: buildWaits},
	{id: 'critical', title: 'Critical path', exists: () => hasTable('critical_path_summary', 'critical_path', 'slack'), build: buildCritical},
	{id: 'iterations', title: 'Steps', exists: () => hasTable('iterations', 'loops'), build: buildIterations},
	{id: 'variability', title: 'Variability', exists: () => hasTable('variability', 'kernels'), build: buildVariability},
	{id: 'launches', title: 'Launches', exists: () => hasTable('launches', 'queue_length'), build: buildLaunches},
	{id: 'cores', title: 'Cores', exists: hasCores, build: buildCores},
	{id: 'memory', title: 'Memory', exists: () => hasTable('memory', 'memory_peaks'), build: buildMemory},
	{id: 'clocks', title: 'Clocks', exists: () => hasTable('clocks'), build: buildClocks},
	{id: 'alignment', title: 'Alignment of ranks', exists: () => hasTable('alignment'), build: buildAlignment},
	{id: 'others', title: 'All other tables', exists: () => tables.size > placedTables.size, build: () => tableViews(0, ...tables.keys())},
	{id: 'about', title: 'About this page', exists: () => true, build: buildAbout},
];

function buildAbout() {
	const notice = document.getElementById('chart-notice');
	const versions = run.versions || {};

	return [element('p', {}, `Made by ${['flextrace', versions.flextrace].filter(Boolean).join(' ')}. Everything stands in this one file; it asks no network for anything. Tables here have their first rows, ${comparison ? 'flextrace diff --csv prints' : 'the files in tables/ have'} all.`),
		element('p', {}, 'Point at a heading, a figure or a “?”, or go there by Tab, for its formula. A click on a heading sorts. “exact” shows figures as the CSV files have them.'),
		notice ? element('details', {}, element('summary', {}, `Charts: ${notice.dataset.name}, its licence`), element('pre', {}, notice.textContent)) : null];
}

// A section that fails costs itself, and says so.
function buildSection(section) {
	const heading = element('h2', {id: `${section.id}-title`}, section.title);
	const made = element('section', {id: section.id, 'aria-labelledby': `${section.id}-title`, tabindex: '-1'}, heading);

	try {
		made.append(...section.build().filter(Boolean));
	} catch (error) {
		made.append(element('p', {class: 'failed', role: 'alert'}, `This section cannot be shown: ${error.message}`));
	}
	made.querySelectorAll('.pair').forEach((pair) => pair.children.length || pair.remove());
	return made;
}

function buildNavigation(shown) {
	const links = shown.map((section) => element('li', {}, element('a', {href: `#${section.id}`}, section.title)));

	return element('nav', {'aria-label': 'Sections'}, element('ul', {}, links));
}

// The link of the section that is read is marked.
function watchSections(navigation) {
	const links = new Map([...navigation.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]));
	const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => {
		const link = links.get(entry.target.id);

		if (link && entry.isIntersecting)
			links.forEach((other) => other === link ? other.setAttribute('aria-current', 'true') : other.removeAttribute('aria-current'));
	}), {rootMargin: '-10% 0px -80% 0px'});

	document.querySelectorAll('main > section').forEach((section) => watcher.observe(section));
}

// -- light and dark -----------------------------------------------------------------------------------------

const themes = ['auto', 'light', 'dark'];

function setTheme(theme) {
	document.documentElement.dataset.theme = theme;
	repaintCharts();
}

function themeSwitch() {
	const select = element('select', {id: 'theme', 'aria-label': 'Colours', change: () => setTheme(select.value)},
		themes.map((theme) => element('option', {value: theme}, theme)));

	return select;
}

function watchTheme() {
	let before = 'auto';

	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaintCharts);
	window.addEventListener('beforeprint', () => {
		before = document.documentElement.dataset.theme;
		setTheme('light');
	});
	window.addEventListener('afterprint', () => setTheme(before));
}

function programsOf() {
	const names = new Set((run.processes || []).map((process) => process.program).filter(Boolean));

	return [...names].slice(0, 3).join(', ') || (run.inputs || [])[0] || 'a trace';
}

function showPage() {
	document.documentElement.dataset.theme = 'auto';

	const main = document.querySelector('main');
	const shown = [];

	for (const section of comparison ? comparisonSections : sections) {
		if (!section.exists())
			continue;
		shown.push(section);
		main.append(buildSection(section));
	}
	main.prepend(comparison ? buildComparisonVerdict() : buildVerdict());

	const navigation = buildNavigation(shown);

	const [subject, kind] = comparison ? [comparedNames(), 'flextrace diff'] : [programsOf(), 'flextrace report'];

	document.title = `${subject}: ${kind}`;
	document.querySelector('header').append(element('h1', {}, subject), element('p', {}, kind), element('label', {class: 'theme'}, 'colours ', themeSwitch()));
	main.before(navigation);
	watchTips();
	watchTheme();
	watchSections(navigation);
	drawShown();
	window.addEventListener('resize', drawShown);
}

showPage();
