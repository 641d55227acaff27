/* Histograms: a row with a bar for each range. */

/* The ranges between the first and the last that were met, the empty ones too. */
function filled(buckets, log2) {
	const all = [];
	const widths = buckets.filter((b) => BigInt(b.low) > 0n && BigInt(b.high) !== LAST)
		.map((b) => BigInt(b.high) - BigInt(b.low) + 1n);
	const step = widths.reduce((least, w) => (w < least ? w : least), LAST);

	for (const bucket of buckets) {
		const before = all.length ? BigInt(all[all.length - 1].high) + 1n : BigInt(bucket.low);
		let low = before;

		while (low < BigInt(bucket.low)) {
			let high = log2 ? (low === 0n ? 0n : low * 2n - 1n) : low + step - 1n;

			if (high >= BigInt(bucket.low))
				high = BigInt(bucket.low) - 1n;
			all.push({ low, high, count: 0 });
			low = high + 1n;
		}
		all.push(bucket);
	}
	return all;
}

function histTable(buckets, log2, unit) {
	const shown = filled(buckets, log2);
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
			rangeInWords(b, unit), `${count(b.count)} times, ${percent(b.count, total)}`,
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
