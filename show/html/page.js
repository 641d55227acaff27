/* The page: its head, and a section for each result. */

function facts(page) {
	const when = new Date(Number(BigInt(page.time_ns) / 1000000n));
	const rows = [["Command", page.command, "mono"], ["Host", page.host], ["Kernel", page.kernel],
		["Time", page.time_ns ? when.toLocaleString() : null, null, when.toISOString()],
		["Span", page.span_ns ? duration(page.span_ns) : null], ["By", page.version]];

	return rows.filter(([, value]) => value).map(([name, value, style, title]) =>
		make("div", null, make("dt", null, name), make("dd", { class: style, title }, value)));
}

/* A map's name, or an event's. */
function nameOf(result) {
	return result.map || result.event;
}

/* Only what is missing has the color of a warning. */
function note(tag, result) {
	return result.note ? make(tag, { class: result.note_good ? "note good" : "note" }, result.note) : null;
}

function section(result, i, events) {
	const kinds = {
		table: () => drawTable(result),
		histogram: () => drawHists(result),
		heatmap: () => drawHeat(result),
		stacks: () => drawStacks(result),
		events: () => drawEvents(result, events),
	};
	const about = [...new Set([result.title ? nameOf(result) : null, result.unit])].filter(Boolean).join(", ");

	return make("section", { id: `r${i}`, "aria-labelledby": `h${i}` },
		make("h2", { id: `h${i}` }, result.title || nameOf(result)),
		about ? make("p", { class: "about mono" }, about) : null,
		note("p", result),
		kinds[result.kind] ? kinds[result.kind]() : null);
}

/* Counts stand together. */
function countsSection(results) {
	return make("section", { id: "counts", "aria-label": "Counts" }, make("dl", { class: "counts" },
		results.map((result) => make("div", null,
			make("dt", { title: nameOf(result) }, result.title || nameOf(result)),
			make("dd", null, make("div", { class: "number" }, count(result.count),
				result.unit ? make("small", null, result.unit) : null),
			note("div", result))))));
}

function show() {
	const data = parse(document.getElementById("data").textContent);
	const main = document.querySelector("main"), contents = document.getElementById("contents");
	const counts = data.results.filter((result) => result.kind === "count");
	const others = data.results.filter((result) => result.kind !== "count");

	document.querySelector("h1").textContent = data.page.title;
	document.getElementById("facts").append(...facts(data.page));
	if (counts.length)
		main.append(countsSection(counts));
	/* A flame graph shows at a glance what a table has in hundreds of rows. */
	const sections = others.map((result, i) => ({ result, i }));
	for (const { result, i } of [...sections.filter(({ result }) => result.kind === "stacks"),
		...sections.filter(({ result }) => result.kind !== "stacks")]) {
		main.append(section(result, i, data.events));
		contents.append(make("a", { href: `#r${i}` }, result.title || nameOf(result)));
	}
	contents.hidden = others.length < 2;
	if (!data.results.length)
		main.append(make("p", { class: "empty" }, "No map was shown."));
	addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			tip.hide();
	});
}

show();
