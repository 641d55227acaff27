/*
 * What all of the page uses. Numbers above 2^53 are BigInts: a count is never
 * rounded. Nothing that came from outside becomes markup: elements are made
 * by make(), which knows text only.
 */

/* An element with attributes and children; strings become text. */
function make(tag, attributes, ...children) {
	const svg = ["svg", "g", "rect", "text"].includes(tag);
	const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
			    : document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else
			element.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat()) {
		if (child !== null && child !== undefined)
			element.append(child);
	}
	return element;
}

/*
 * Text as plain_add() (show/plain.h) has it: what acts instead of being seen,
 * and bytes that were no UTF-8 (JSON has U+DC80 and on for them), as \xHH.
 */
function plain(text) {
	const acts = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

	return text.replace(acts, (c) => {
		const lone = c.charCodeAt(0) - 0xdc00;
		const bytes = c.length === 1 && lone >= 0x80 && lone <= 0xff ? [lone] : new TextEncoder().encode(c);

		return [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
	});
}

/* JSON whose whole numbers stay exact, and whose strings are plain. */
function parse(text) {
	/* no name has a NUL in it, so that no data looks like this */
	const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
		/^-?\d{16,}$/.test(token) ? `{"\\u0000":"${token}"}` : token);

	return JSON.parse(marked, (key, value) => {
		if (typeof value === "string" && key !== "\0")
			return plain(value);
		if (!value || typeof value["\0"] !== "string")
			return value;
		const number = Number(value["\0"]);
		return Number.isSafeInteger(number) ? number : BigInt(value["\0"]);
	});
}

function isNumber(value) {
	return typeof value === "number" || typeof value === "bigint";
}

function add(a, b) {
	if (typeof a === "number" && typeof b === "number" && Number.isSafeInteger(a + b))
		return a + b;
	return BigInt(a) + BigInt(b);
}

/* 1,234,567 */
function count(value) {
	return value.toLocaleString("en");
}

function percent(part, whole) {
	const share = Number(whole) ? Number(part) * 100 / Number(whole) : 0;

	return `${share.toFixed(share > 0 && share < 0.1 ? 2 : 1)} %`;
}

/* Nanoseconds as people say them. */
function duration(ns) {
	const units = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"]];

	for (const [size, name] of units) {
		if (Number(ns) >= size)
			return `${+(Number(ns) / size).toPrecision(3)} ${name}`;
	}
	return `${ns} ns`;
}

/* The local time of ns since 1970, with as many digits as a step of that many ns needs. */
function clock(ns, step) {
	const ms = Number(BigInt(ns) / 1000000n), when = new Date(ms);
	const two = (n) => String(n).padStart(2, "0");
	const text = `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}`;
	const fraction = String(BigInt(ns) % 1000000000n).padStart(9, "0");

	if (!step || Number(step) % 1e9 === 0)
		return text;
	return `${text}.${fraction.slice(0, Number(step) % 1e6 === 0 ? 3 : 6)}`;
}

/* 1024 is 1K where ranges are powers of two. */
function bound(value, log2) {
	let n = BigInt(value), unit = -1;

	while (log2 && n >= 1024n && n % 1024n === 0n && unit < 5) {
		n /= 1024n;
		unit++;
	}
	return n + (unit >= 0 ? "KMGTPE"[unit] : "");
}

/* The first and the last of linear ranges have no end; of powers of two the last. */
function isOpen(value, log2) {
	const n = BigInt(value), most = 1n << (log2 ? 64n : 63n);

	return n === most - 1n || (!log2 && n === -most);
}

/* "[1K, 2K)", as the text has it. */
function range(bucket, log2) {
	if (bucket.low === bucket.high)
		return `[${bound(bucket.low, log2)}]`;
	const low = isOpen(bucket.low, log2) ? "(…" : `[${bound(bucket.low, log2)}`;
	const high = isOpen(bucket.high, log2) ? "…" : bound(BigInt(bucket.high) + 1n, log2);
	return `${low}, ${high})`;
}

/* "4,096 to 8,191 bytes" */
function rangeInWords(bucket, log2, unit) {
	const of = unit ? ` ${unit}` : "";

	if (bucket.low === bucket.high)
		return count(bucket.low) + of;
	if (isOpen(bucket.low, log2))
		return `${count(bucket.high)} and less${of}`;
	if (isOpen(bucket.high, log2))
		return `${count(bucket.low)} and more${of}`;
	return `${count(bucket.low)} to ${count(bucket.high)}${of}`;
}

/* The one tooltip: a title and lines, beside the pointer or an element's place. */
const tip = {
	show(x, y, title, ...lines) {
		const box = document.getElementById("tip");

		box.replaceChildren(make("strong", null, title), ...lines.map((l) => make("span", null, l)));
		box.hidden = false;
		const { width, height } = box.getBoundingClientRect();
		const right = x + 14 + width < innerWidth - 4;
		const below = y + 16 + height < innerHeight - 4;
		box.style.left = `${Math.max(4, right ? x + 14 : x - 14 - width)}px`;
		box.style.top = `${Math.max(4, below ? y + 16 : y - 12 - height)}px`;
	},
	hide() {
		document.getElementById("tip").hidden = true;
	},
};

/* Calls draw() now, and when the element's width or the colours change. */
function redraw(element, draw) {
	let width = -1;

	new ResizeObserver(() => {
		if (element.clientWidth !== width) {
			width = element.clientWidth;
			draw();
		}
	}).observe(element);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
