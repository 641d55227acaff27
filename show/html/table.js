/* Tables: sorted by a click on a column, filtered by text, shown a part at a time. */

const PART = 200; /* rows at a time */

/* 12.34, and of differences +12.34 and -12.34, but nothing before 0.00 */
function twoDigits(value, signed) {
	const text = Math.abs(value).toFixed(2);

	return (Number(text) === 0 ? "" : value < 0 ? "-" : signed ? "+" : "") + text;
}

/*
 * columns: [{name, unit, key}]; rows: arrays of {value, text}, where text is
 * what people read. begin: the column that is sorted at first, or -1.
 */
function tableElement(columns, rows, begin, leftOut) {
	const right = columns.map((_, c) => rows.length > 0 &&
		rows.every((row) => row[c].value === null || (isNumber(row[c].value) && !row[c].text)));
	/* of differences */
	const signed = columns.map((_, c) => rows.some((row) => isNumber(row[c].value) && row[c].value < 0));
	const counted = columns.findIndex((column, c) => !column.key && right[c]);
	let most = 0, sorted = begin, falling = true, wanted = "", shown = PART;
	const body = make("tbody"), said = make("span", { class: "said", role: "status" });
	const more = make("button", { class: "more", type: "button", onclick: () => {
		shown += PART * 5;
		fill();
	} });

	for (const row of rows)
		most = counted >= 0 ? Math.max(most, Number(row[counted].value)) : 0;
	const heads = columns.map((column, c) => make("th", { scope: "col",
		class: [right[c] && "right", column.share && "share"].filter(Boolean).join(" ") || null },
		make("button", { type: "button", onclick: () => {
			falling = sorted === c ? !falling : right[c];
			sorted = c;
			fill();
		} }, column.title || column.name, column.unit && column.unit !== column.name && column.unit !== "time"
			? make("small", null, ` ${column.unit}`) : null)));

	/* Numbers that name something, as a process, are no quantities. */
	function cellText(cell, c) {
		if (cell.text)
			return cell.text;
		if (cell.value === null || cell.value === undefined)
			return "";
		if (isNumber(cell.value) && columns[c].unit === "%")
			return twoDigits(Number(cell.value), signed[c]);
		return isNumber(cell.value) && !columns[c].key ? count(cell.value) : String(cell.value);
	}

	function compare(a, b) {
		const x = a[sorted], y = b[sorted];

		if (isNumber(x.value) && isNumber(y.value))
			return x.value < y.value ? -1 : x.value > y.value ? 1 : 0;
		if ((x.value === null) !== (y.value === null))
			return x.value === null ? -1 : 1;
		return cellText(x, sorted).localeCompare(cellText(y, sorted), "en");
	}

	function fill() {
		const found = wanted ? rows.filter((row) =>
			row.some((cell, c) => cellText(cell, c).toLowerCase().includes(wanted))) : rows.slice();

		if (sorted >= 0)
			found.sort((a, b) => falling ? compare(b, a) : compare(a, b));
		body.replaceChildren(...found.slice(0, shown).map((row) => make("tr", null,
			row.map((cell, c) => {
				const share = cell.percent === undefined ? null : `${cell.percent.toFixed(2)} %`;
				const td = make("td", { class: right[c] ? "right" : null },
					share ? make("small", { class: "amount" }, `${cellText(cell, c)} `) : null,
					share || cellText(cell, c));

				if (c === counted && most > 0) {
					td.classList.add("share");
					td.style.backgroundSize = `${Number(cell.value) * 100 / most}% 100%`;
				}
				return td;
			}))));
		heads.forEach((head, c) => {
			if (c === sorted)
				head.setAttribute("aria-sort", falling ? "descending" : "ascending");
			else
				head.removeAttribute("aria-sort");
		});
		said.textContent = wanted ? `${count(found.length)} of ${count(rows.length)} rows` : "";
		more.hidden = found.length <= shown;
		more.textContent = `Show more of ${count(found.length)} rows`;
	}

	fill();
	const filter = rows.length < 12 ? null : make("div", { class: "tools" },
		make("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows",
			oninput: (event) => {
				wanted = event.target.value.toLowerCase();
				fill();
			} }), said);
	return make("div", { class: "table" }, filter,
		make("div", { class: "scroll" },
			make("table", { class: "rows" }, make("thead", null, make("tr", null, heads)), body)),
		rows.length ? null : make("p", { class: "empty" }, "No entries."), more,
		leftOut ? make("p", { class: "about" }, `${count(leftOut)} more rows were left out (--top).`) : null);
}

function cellsOf(columns, row) {
	return columns.map((column) => ({
		value: row[column.name] === undefined ? null : row[column.name],
		text: row[`${column.name}_text`],
		percent: column.share ? row[`${column.name}_percent`] : undefined,
	}));
}

/* What columns of samples are called; others are called by their keys, with a capital. */
const TITLES = {
	overhead: "Self", overhead_children: "With callees", comm: "Command", pid: "Process", tid: "Thread",
	dso: "Binary", sym: "Function", symbol: "Function", sample: "Samples", srcline: "Source line",
	srcfile: "Source file", cpu: "CPU", time: "Time", cgroup: "Cgroup",
};

/* Of samples: in words, and the function beside its share, where a narrow screen has it as well. */
function sampleColumns(columns) {
	const last = (column) => column.key && !/^sym(bol)?$/.test(column.name);
	const total = columns.some((column) => column.name === "overhead_children");
	const title = ({ name }) => name === "overhead" && !total ? "Overhead" : TITLES[name] ||
		name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

	return [...columns.filter((column) => column.share), ...columns.filter((column) => !column.share && !last(column)
		&& column.key), ...columns.filter((column) => !column.share && last(column)),
	...columns.filter((column) => !column.share && !column.key)]
		.map((column) => ({ ...column, title: title(column) }));
}

function drawTable(result) {
	const ofSamples = result.columns.some((column) => column.share);
	const columns = ofSamples ? sampleColumns(result.columns) : result.columns;
	const begin = columns.findIndex((column) => !column.key);

	return tableElement(columns, result.rows.map((row) => cellsOf(columns, row)), begin, result.left_out);
}

/* The last of the events, in the order in which they came. */
function drawEvents(result, events) {
	const mine = events.filter((event) => event.map === result.map);
	const lines = [`${count(result.total)} ${result.total === 1 ? "event" : "events"}, ` +
		(result.lost === undefined ? "losses not counted" : `${count(result.lost)} lost`)];

	if (mine.length && mine.length < result.total)
		lines.push(`the last ${count(mine.length)} are here`);
	const names = [...new Set(mine.flatMap((event) => Object.keys(event.event)))]
		.filter((name, _, all) => !(name.endsWith("_text") && all.includes(name.slice(0, -5))));
	const time = mine.some((event) => event.time_of === "reading") ? "time_read" : "time";
	const columns = [{ name: time, key: true }, ...names.map((name) => ({ name, key: true }))];
	const rows = mine.map((event) => [
		{ value: event.time_ns ?? 0, text: event.time_ns ? clock(event.time_ns, 1) : "" },
		...cellsOf(columns.slice(1), event.event)]);

	return make("div", null, make("p", { class: "about" }, lines.join("; "), "."),
		mine.length ? tableElement(columns, rows, -1, 0) : null);
}
