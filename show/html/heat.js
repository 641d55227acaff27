/*
 * Heat maps: time from left to right, ranges of values upward, the more the
 * stronger the colour. The colour goes with the square root of the count, so
 * that a few beside very many are still seen. Where there are more slots of
 * time than pixels, neighbours share a column.
 */

const HEAT_LIGHT = [[226, 235, 250], [84, 138, 226], [15, 29, 82]];
const HEAT_DARK = [[31, 43, 74], [66, 124, 226], [238, 245, 255]];

function heatColour(share) {
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	const stops = dark ? HEAT_DARK : HEAT_LIGHT;
	const at = Math.sqrt(share) * (stops.length - 1);
	const i = Math.min(Math.floor(at), stops.length - 2);
	const mix = stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * (at - i)));

	return `rgb(${mix.join(" ")})`;
}

function drawHeat(result) {
	const log2 = result.scale === "log2", ranges = result.ranges, slots = result.counts;
	const canvas = make("canvas", { class: "heat", tabindex: "0", role: "img",
		"aria-label": "Heat map. Arrow keys move, with Shift they select times, Escape selects all." });
	const told = make("p", { class: "told", role: "status" });
	const caption = make("h3"), chosen = make("div", { class: "chosen" });
	const all = make("button", { type: "button", disabled: true }, "All times");
	const scale = make("span", { class: "scale" });
	let group = 1, columns = [], most = 0, view = null; /* of the last drawing */
	let from = -1, to = -1, begun = -1, at = null;	    /* columns; at: {column, row} */

	if (!slots.length || !ranges.length)
		return make("p", { class: "empty" }, "No values.");

	const timeOf = (slot) => BigInt(result.start_ns) + BigInt(slot) * BigInt(result.step_ns);
	const slotsOf = (first, last) => [first * group, Math.min((last + 1) * group, slots.length)];
	const span = (a, b) => `${clock(timeOf(a), result.step_ns)} – ${clock(timeOf(b), result.step_ns)}`;

	function gather(width) {
		const wanted = Math.ceil(slots.length / Math.max(Math.floor(width), 1));

		if (wanted !== group) {
			/* what was chosen are columns, which are others now */
			group = wanted;
			from = to = -1;
			at = null;
			choose();
		}
		columns = [];
		for (let s = 0; s < slots.length; s += group)
			columns.push(ranges.map((_, r) =>
				slots.slice(s, s + group).reduce((sum, slot) => add(sum, slot[r]), 0)));
		most = columns.reduce((m, column) => column.reduce((n, c) => Math.max(n, Number(c)), m), 0);
	}

	function draw() {
		const style = getComputedStyle(document.documentElement);
		const colour = (name) => style.getPropertyValue(name);
		const width = Math.max(canvas.clientWidth, 120), ratio = devicePixelRatio || 1;
		const label = (r) => isOpen(ranges[r].low, log2) ? "…" : bound(ranges[r].low, log2);
		const pen = canvas.getContext("2d");
		const font = `11px ${colour("--mono")}`;

		pen.font = font;
		const left = Math.ceil(Math.max(...ranges.map((_, r) => pen.measureText(label(r)).width))) + 10;
		gather(width - left);
		const tall = Math.max(9, Math.min(22, Math.floor(380 / ranges.length)));
		const height = tall * ranges.length + 24;
		view = { left, tall, wide: Math.min((width - left) / columns.length, 48) };
		canvas.width = width * ratio;
		canvas.height = height * ratio;
		canvas.style.height = `${height}px`;
		pen.scale(ratio, ratio);
		const bottom = tall * ranges.length;

		columns.forEach((column, c) => column.forEach((n, r) => {
			if (!Number(n))
				return;
			pen.fillStyle = heatColour(Number(n) / most);
			pen.fillRect(left + c * view.wide, bottom - (r + 1) * tall,
				Math.max(view.wide - (view.wide > 5 ? 1 : 0), 0.5), tall - 1);
		}));
		pen.fillStyle = colour("--soft");
		pen.font = font;
		pen.textBaseline = "middle";
		pen.textAlign = "right";
		const every = Math.ceil(13 / tall);
		ranges.forEach((_, r) => {
			if (r % every === 0)
				pen.fillText(label(r), left - 6, bottom - (r + 0.5) * tall);
		});
		pen.textAlign = "left";
		const text = clock(timeOf(0), result.step_ns);
		const apart = Math.ceil((pen.measureText(text).width + 18) / view.wide);
		for (let c = 0; c < columns.length; c += apart) {
			const x = left + c * view.wide;

			if (x + pen.measureText(text).width <= width)
				pen.fillText(clock(timeOf(c * group), result.step_ns), x, bottom + 14);
		}
		pen.strokeStyle = colour("--line");
		pen.beginPath();
		pen.moveTo(left, bottom + 0.5);
		pen.lineTo(left + columns.length * view.wide, bottom + 0.5);
		pen.stroke();
		pen.strokeStyle = pen.fillStyle = colour("--accent");
		if (from >= 0) {
			const [a, b] = [Math.min(from, to), Math.max(from, to)];
			const x = left + a * view.wide, w = (b - a + 1) * view.wide;

			pen.globalAlpha = 0.13;
			pen.fillRect(x, 0, w, bottom);
			pen.globalAlpha = 1;
			pen.strokeRect(x + 0.5, 0.5, w - 1, bottom - 1);
		}
		if (at) {
			pen.lineWidth = 2;
			pen.strokeRect(left + at.column * view.wide, bottom - (at.row + 1) * tall,
				view.wide, tall);
		}
		drawScale();
	}

	function drawScale() {
		const steps = [0.01, 0.1, 0.3, 0.6, 1].map((share) => {
			const swatch = make("i");

			swatch.style.background = heatColour(share);
			return swatch;
		});
		scale.replaceChildren("1", ...steps, count(most));
	}

	/* The histogram of the chosen times, of all of them where none are. */
	function choose() {
		const none = from < 0;
		const [a, b] = none ? [0, slots.length] : slotsOf(Math.min(from, to), Math.max(from, to));
		const buckets = ranges.map((r, i) => ({ low: r.low, high: r.high,
			count: slots.slice(a, b).reduce((sum, slot) => add(sum, slot[i]), 0) }));
		const total = buckets.reduce((sum, bucket) => add(sum, bucket.count), 0);

		all.disabled = none;
		caption.textContent = `${none ? "All times" : span(a, b)}: ${count(total)} ` +
			`${total === 1 ? "value" : "values"}`;
		chosen.replaceChildren(caption, make("div", { class: "hists single" },
			histTable(buckets, log2, result.unit)));
	}

	function words({ column, row }) {
		const [a, b] = slotsOf(column, column);

		return [rangeInWords(ranges[row], log2, result.unit), span(a, b),
			`${count(columns[column][row])} times`];
	}

	/* Which cell is at a place of the window; null: none. clamp: the nearest column. */
	function cellAt(event, clamp) {
		const box = canvas.getBoundingClientRect();
		let column = Math.floor((event.clientX - box.left - view.left) / view.wide);
		const row = ranges.length - 1 - Math.floor((event.clientY - box.top) / view.tall);

		if (clamp)
			column = Math.max(0, Math.min(columns.length - 1, column));
		else if (column < 0 || column >= columns.length || row < 0 || row >= ranges.length)
			return null;
		return { column, row };
	}

	canvas.addEventListener("pointerdown", (event) => {
		const cell = cellAt(event);

		if (!cell || event.button)
			return;
		canvas.setPointerCapture(event.pointerId);
		begun = from = to = cell.column;
		at = null;
		draw();
	});
	canvas.addEventListener("pointermove", (event) => {
		if (begun >= 0) {
			to = cellAt(event, true).column;
			draw();
			choose();
		}
		const cell = cellAt(event);
		if (cell)
			tip.show(event.clientX, event.clientY, ...words(cell));
		else
			tip.hide();
	});
	canvas.addEventListener("pointerup", () => {
		if (begun >= 0)
			choose();
		begun = -1;
	});
	canvas.addEventListener("pointercancel", () => {
		begun = -1;
	});
	canvas.addEventListener("pointerleave", tip.hide);
	canvas.addEventListener("keydown", (event) => {
		const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
		const move = moves[event.key];

		if (event.key === "Escape") {
			from = to = -1;
			at = null;
			told.textContent = "";
			choose();
		} else if (move) {
			if (!at) {
				at = { column: 0, row: 0 };
			} else {
				if (event.shiftKey && from < 0)
					from = at.column;
				at.column = Math.max(0, Math.min(columns.length - 1, at.column + move[0]));
				at.row = Math.max(0, Math.min(ranges.length - 1, at.row + move[1]));
			}
			if (event.shiftKey) {
				from = from < 0 ? at.column : from;
				to = at.column;
				choose();
			}
			told.textContent = words(at).join(", ");
		} else {
			return;
		}
		event.preventDefault();
		draw();
	});
	all.addEventListener("click", () => {
		from = to = -1;
		choose();
		draw();
	});
	redraw(canvas, draw);
	choose();
	return make("div", null,
		make("div", { class: "tools" }, all, make("span", { class: "said" }, "Drag to choose a time."), scale),
		canvas, told, chosen);
}
