// SPDX-License-Identifier: Apache-2.0
// Elements, made of nothing but text: what stands in a trace can become neither markup nor script.

const svgSpace = 'http://www.w3.org/2000/svg';

// Attributes that are functions listen to the event of that name. Children are elements, texts, or nothing.
function fill(made, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (typeof value === 'function')
			made.addEventListener(name, value);
		else if (value === true)
			made.setAttribute(name, '');
		else if (value !== false && value !== null && value !== undefined)
			made.setAttribute(name, value);
	}
	made.append(...children.flat().filter((child) => child !== null && child !== undefined &&
		child !== false));
	return made;
}

function element(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
	return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

// -- tooltips: for whoever points at something or comes to it by keyboard -----------------------------------

const tip = element('div', {id: 'tip', role: 'tooltip', hidden: true});
let tipOwner = null;

function hideTip() {
	if (tipOwner)
		tipOwner.removeAttribute('aria-describedby');
	tipOwner = null;
	tip.hidden = true;
}

function showTip(owner, text) {
	hideTip();
	tip.textContent = text;
	tip.hidden = false;
	tipOwner = owner;
	owner.setAttribute('aria-describedby', 'tip');

	const at = owner.getBoundingClientRect();
	const size = tip.getBoundingClientRect();
	const left = Math.max(8, Math.min(at.left, window.innerWidth - size.width - 8));
	const below = at.bottom + 6;

	tip.style.left = `${left}px`;
	tip.style.top = `${below + size.height < window.innerHeight ? below : Math.max(4, at.top - size.height - 6)}px`;
}

function watchTips() {
	const ownerOfTip = (event) => event.target.closest && event.target.closest('[data-tip]');
	const isHeld = () => tipOwner && tipOwner.matches(':focus-visible');
	const show = (event) => {
		const owner = ownerOfTip(event);

		if (owner && owner !== tipOwner)
			showTip(owner, owner.dataset.tip);
		else if (!owner && tipOwner && !isHeld())
			hideTip();
	};

	document.body.append(tip);
	document.addEventListener('mouseover', show);
	document.addEventListener('focusin', show);
	document.addEventListener('focusout', hideTip);
	// Coming to something by keyboard may scroll, which moves what is under the mouse.
	document.addEventListener('scroll', () => isHeld() ?
		showTip(tipOwner, tipOwner.dataset.tip) : hideTip(), {passive: true, capture: true});
	document.addEventListener('keydown', (event) => {
		if (event.key === 'Escape')
			hideTip();
	});
}

// A figure with its formula: "?" that explains.
function info(text) {
	if (!text)
		return null;
	return element('button', {type: 'button', class: 'info', 'data-tip': text,
		'aria-label': `What this is: ${text}`}, '?');
}

// A text whose tooltip tells more, that keyboards reach.
function explained(text, tipText, attributes = {}) {
	return element('span', {...attributes, class: `explained ${attributes.class || ''}`, tabindex: '0',
		'data-tip': tipText}, text);
}

// A picture with its heading, what it shows in words, and its formula.
function figure(title, what, ...content) {
	return element('figure', {}, element('figcaption', {}, element('h3', {}, title, ' ', info(what))), ...content);
}

function download(name, text, type) {
	const url = URL.createObjectURL(new Blob([text], {type}));

	element('a', {href: url, download: name}).click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}
