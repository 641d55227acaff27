/* Histograms: a row with a bar for each range. */

/* From the first range that was met to the last one. */
function met(buckets) {
	const is = (b) => Number(b.count) > 0;
	const first = buckets.findIndex(is);
	let end = buckets.length;

	while (end > 0 && !is(buckets[end - 1]))
		end--;
	return first < 0 ? [] : buckets.slice(first, end);
}

function histTable(buckets, log2, unit) {
	const shown = met(buckets);
	const total = shown.reduce((sum, b) => add(sum, b.count), 0);
	const most = shown.reduce((m, b) => Math.max(m, Number(b.count)), 0);
	let sum = 0;

	if (!shown.length)
		return make("p", { class: "empty" }, "No values.");
	const rows = shown.map((b) => {
		const bar = make("div");

		sum = add(sum, b.count);
		bar.style.width = `${most ? Number(b.count) * 100 / most : 0}%`;
		if (Number(b.count))
			bar.style.minWidth = "2px";
		const upTo = percent(sum, total);
		const row = make("tr", null, make("th", { scope: "row" }, range(b, log2)),
			make("td", { class: "count" }, count(b.count)),
			make("td", { class: "bar" }, bar),
			make("td", { class: "percent" }, percent(b.count, total)));
		row.addEventListener("pointermove", (event) => tip.show(event.clientX, event.clientY,
			rangeInWords(b, log2, unit), `${count(b.count)} times, ${percent(b.count, total)}`,
			`${upTo} are in this range or below`));
		row.addEventListener("pointerleave", tip.hide);
		return row;
	});
	return make("table", { class: "hist" }, make("tbody", null, rows));
}

function drawHists(result) {
	const log2 = result.scale === "log2";
	const several = result.hists.length > 1 || result.hists.some((h) => h.label);
	const box = make("div", { class: several ? "hists" : "hists single" });
	const more = make("button", { class: "more", type: "button" });
	let shown = 0;

	function show(n) {
		const end = Math.min(result.hists.length, shown + n);

		for (; shown < end; shown++) {
			const hist = result.hists[shown];

			box.append(make("div", null, hist.label ? make("h3", null, hist.label) : null,
				histTable(hist.buckets, log2, result.unit)));
		}
		more.hidden = shown === result.hists.length;
		more.textContent = `Show more of ${count(result.hists.length)} histograms`;
	}

	more.addEventListener("click", () => show(24));
	show(12);
	return make("div", null, result.hists.length ? box : make("p", { class: "empty" }, "No values."), more);
}
