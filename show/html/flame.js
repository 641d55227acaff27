/*
 * Flame graphs (B. Gregg, "The Flame Graph", CACM 59(6), 2016): the width of a
 * frame is the share of the stacks that go through it. Frames narrower than
 * half a pixel are not drawn; zooming in makes them wider.
 *
 * Stacks that are compared with others are a differential flame graph: red where the share of a
 * frame is larger than in the others, blue where it is smaller. The widths can be those of the
 * others, as what is in them alone has none here.
 */

const ROW = 19; /* pixels of a frame's height */

function flameTree(stacks, baseStacks) {
	const root = { name: "all", kind: "who", total: 0, self: 0, base: 0, baseSelf: 0,
		       children: new Map(), depth: 0 };

	function below(node, name, kind, module) {
		const key = `${kind} ${module || ""} ${name}`;
		let child = node.children.get(key);

		if (!child) {
			child = { name, kind, module, total: 0, self: 0, base: 0, baseSelf: 0,
				  children: new Map(), parent: node, depth: node.depth + 1 };
			node.children.set(key, child);
		}
		return child;
	}

	function addAll(list, total, self) {
		for (const stack of list) {
			let node = root;

			root[total] = add(root[total], stack.count);
			if (stack.label) {
				node = below(node, stack.label, "who");
				node[total] = add(node[total], stack.count);
			}
			for (const frame of stack.frames.slice().reverse()) {
				const kernel = frame.kernel || (frame.module || "").startsWith("[kernel");

				node = below(node, frame.name, kernel ? "kernel" : "user", frame.module);
				node[total] = add(node[total], stack.count);
			}
			node[self] = add(node[self], stack.count);
		}
	}
	addAll(stacks, "total", "self");
	addAll(baseStacks || [], "base", "baseSelf");
	return root;
}

function shareOf(part, whole) {
	return Number(whole) ? Number(part) / Number(whole) : 0;
}

/* By how many percentage points the share of a node has grown. */
function growth(node, root) {
	return 100 * (shareOf(node.total, root.total) - shareOf(node.base, root.base));
}

function points(change) {
	return `${change >= 0 ? "+" : "\u2212"}${Math.abs(change).toFixed(1)} points`;
}

/* Neighbours differ a little, and a function looks the same wherever it stands. */
function shade(name) {
	let hash = 0;

	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) % 1009;
	return (0.72 + 0.28 * hash / 1008).toFixed(2);
}

function inOrder(node, size) {
	return [...node.children.values()].sort((a, b) =>
		a[size] < b[size] ? 1 : a[size] > b[size] ? -1 : a.name < b.name ? -1 : 1);
}

/* Each function once: what ends in it, and what goes through it. */
function functionsOf(root) {
	const functions = new Map();

	function visit(node, above) {
		const key = `${node.kind} ${node.module || ""} ${node.name}`;
		const again = above.has(key);

		if (node.kind !== "who") {
			const f = functions.get(key) || { node, self: 0, total: 0, base: 0 };

			f.self = add(f.self, node.self);
			if (!again) {
				f.total = add(f.total, node.total);
				f.base = add(f.base, node.base);
			}
			functions.set(key, f);
		}
		if (!again)
			above.add(key);
		for (const child of node.children.values())
			visit(child, above);
		if (!again)
			above.delete(key);
	}
	visit(root, new Set());
	return [...functions.values()];
}

function drawStacks(result) {
	const compared = !!result.base_stacks;
	const root = flameTree(result.stacks, result.base_stacks);
	const unit = result.unit ? ` ${result.unit}` : "";
	const svg = make("svg", { class: "flame", tabindex: "0", role: "tree",
		"aria-label": "Flame graph. Arrow keys move, Enter zooms, Escape zooms out." });
	const told = make("p", { class: "told", role: "status" });
	const said = make("span", { class: "said", role: "status" });
	const input = make("input", { type: "search", placeholder: "Search functions (regex)",
		"aria-label": "Search functions" });
	const reset = make("button", { type: "button", disabled: true }, "Reset zoom");
	const turn = make("button", { type: "button", "aria-pressed": "false" }, "Icicle");
	const swap = make("button", { type: "button", "aria-pressed": "false" }, "Widths of the baseline");
	const box = make("div", { class: "flames" }, svg); /* stacks of a hundred functions scroll in it */
	let zoomed = root, current = null, icicle = false, wanted = null, placed = false;
	let size = "total";
	/* The strongest colour is that of the largest change, but not of a few hundredths. */
	let largest = 1;

	if (compared)
		(function visit(node) {
			largest = Math.max(largest, Math.abs(growth(node, root)));
			node.children.forEach(visit);
		})(root);
	if (!result.stacks.length)
		return make("p", { class: "empty" }, "No stacks.");

	function words(node) {
		const lines = [`${count(node.total)}${unit}, ${percent(node.total, root.total)} of all`];

		if (compared)
			lines.push(`${percent(node.base, root.base)} in the baseline: ${points(growth(node, root))}`);

		if (zoomed !== root && node.depth >= zoomed.depth && Number(zoomed.total))
			lines.push(`${percent(node.total, zoomed.total)} of ${zoomed.name}`);
		if (Number(node.self) && node.children.size)
			lines.push(`${count(node.self)}${unit} in itself`);
		if (node.module)
			lines.push(node.module);
		return lines;
	}

	/* The frames that are drawn: {node, x, w}, in shares of the width. */
	function layout(width) {
		const frames = [];

		for (let node = zoomed.parent; node; node = node.parent)
			frames.unshift({ node, x: 0, w: 1, above: true });
		(function place(node, x, w) {
			frames.push({ node, x, w });
			for (const child of inOrder(node, size)) {
				const part = w * shareOf(child[size], node[size]);

				if (part * width >= 0.5)
					place(child, x, part);
				x += part;
			}
		})(zoomed, 0, 1);
		return frames;
	}

	/* A change of nothing has the colour of the page's frames of neither kind. */
	function look(node) {
		if (!compared)
			return { class: `frame ${node.kind}`, opacity: shade(node.name) };
		const change = growth(node, root);

		if (Math.abs(change) < 0.05)
			return { class: "frame same", opacity: "1" };
		return { class: `frame ${change > 0 ? "grown" : "shrunk"}`,
			 opacity: (0.2 + 0.8 * Math.abs(change) / largest).toFixed(2) };
	}

	function draw() {
		const width = Math.max(svg.clientWidth, 100);
		const frames = layout(width);
		const rows = frames.reduce((most, f) => Math.max(most, f.node.depth), 0) + 1;

		svg.setAttribute("height", rows * ROW);
		svg.replaceChildren(...frames.map((f) => {
			const row = icicle ? f.node.depth : rows - 1 - f.node.depth;
			const w = Math.max(f.w * width - 1, 0.5), room = Math.floor((w - 7) / 7.25);
			const name = f.node.name;
			const { class: style, opacity } = look(f.node);
			const g = make("g", { class: style, role: "treeitem",
				"aria-label": `${name}, ${words(f.node).join(", ")}` },
				compared ? make("rect", { class: "under", x: f.x * width, y: row * ROW,
					width: w, height: ROW - 1, rx: 2 }) : null,
				make("rect", { x: f.x * width, y: row * ROW, width: w, height: ROW - 1, rx: 2,
					"fill-opacity": opacity }),
				room < 3 ? null : make("text", { x: f.x * width + 4, y: row * ROW + 13 },
					name.length > room ? `${name.slice(0, room - 1)}…` : name));

			g.classList.toggle("above", !!f.above);
			g.classList.toggle("match", !!wanted && f.node !== root && wanted(f.node.name));
			g.classList.toggle("current", f.node === current);
			g.node = f.node;
			g.frame = f;
			return g;
		}));
		reset.disabled = zoomed === root;
		if (!placed && svg.clientWidth)
			place();
	}

	/* The root's end is what is seen at first. */
	function place() {
		placed = true;
		box.scrollTop = icicle ? 0 : box.scrollHeight;
	}

	function zoom(node) {
		zoomed = node;
		current = node === root ? null : node;
		tip.hide();
		tell(current);
		draw();
		place();
	}

	function tell(node) {
		told.textContent = node ? `${node.name}: ${words(node).join(", ")}` : "";
	}

	/* What share of the stacks goes through a frame of that name. */
	function search() {
		const text = input.value;
		let matched = 0;

		wanted = null;
		if (text) {
			try {
				const pattern = new RegExp(text, "i");
				wanted = (name) => pattern.test(name);
			} catch {
				wanted = (name) => name.toLowerCase().includes(text.toLowerCase());
			}
			(function visit(node) {
				if (node !== root && wanted(node.name))
					matched = add(matched, node.total);
				else
					node.children.forEach(visit);
			})(root);
		}
		said.textContent = text ? `${percent(matched, root.total)} matched ` +
			`(${count(matched)} of ${count(root.total)})` : "";
		draw();
	}

	/* To the neighbour of the current frame in a direction; rows away from the root are deeper. */
	function move(key) {
		const frames = [...svg.children].map((g) => g.frame);
		const at = frames.find((f) => f.node === current) || frames[0];
		const deeper = key === (icicle ? "ArrowDown" : "ArrowUp");
		let to = null;

		if (!current) {
			to = at;
		} else if (key === "ArrowLeft" || key === "ArrowRight") {
			const row = frames.filter((f) => f.node.depth === at.node.depth);

			to = row[row.indexOf(at) + (key === "ArrowRight" ? 1 : -1)];
		} else if (deeper) {
			to = frames.find((f) => f.node.parent === at.node);
		} else {
			to = frames.find((f) => f.node === at.node.parent);
		}
		if (to) {
			current = to.node;
			tell(current);
			draw();
			svg.querySelector(".current")?.scrollIntoView({ block: "nearest" });
		}
	}

	svg.addEventListener("click", (event) => {
		const g = event.target.closest(".frame");

		if (g)
			zoom(g.node);
	});
	svg.addEventListener("pointermove", (event) => {
		const g = event.target.closest(".frame");

		if (g)
			tip.show(event.clientX, event.clientY, g.node.name, ...words(g.node));
		else
			tip.hide();
	});
	svg.addEventListener("pointerleave", tip.hide);
	svg.addEventListener("keydown", (event) => {
		if (event.key.startsWith("Arrow"))
			move(event.key);
		else if (event.key === "Enter" && current)
			zoom(current);
		else if (event.key === "Escape")
			zoom(root);
		else
			return;
		event.preventDefault();
	});
	input.addEventListener("input", search);
	input.addEventListener("keydown", (event) => {
		if (event.key === "Escape") {
			input.value = "";
			search();
		}
	});
	reset.addEventListener("click", () => zoom(root));
	turn.addEventListener("click", () => {
		icicle = !icicle;
		turn.textContent = icicle ? "Flame" : "Icicle";
		turn.setAttribute("aria-pressed", String(icicle));
		draw();
		place();
	});
	swap.addEventListener("click", () => {
		size = size === "total" ? "base" : "total";
		swap.setAttribute("aria-pressed", String(size === "base"));
		zoom(root);
	});
	redraw(svg, draw);

	const columns = [{ name: "function", key: true }, { name: "module", key: true },
		{ name: "self", unit: result.unit }, { name: "total", unit: result.unit },
		...(compared ? [{ name: "baseline", unit: result.unit }] : [])];
	const rows = functionsOf(root).map((f) => [{ value: f.node.name }, { value: f.node.module || null },
		{ value: f.self }, { value: f.total }, ...(compared ? [{ value: f.base }] : [])]);
	const kinds = new Set(rows.length ? functionsOf(root).map((f) => f.node.kind) : []);
	return make("div", null,
		make("div", { class: "tools" }, input, reset, turn, compared ? swap : null, said,
			compared ? ["grown", "shrunk"].map((kind) =>
				make("span", { class: "key" }, make("i", { class: kind }), kind))
			: kinds.size > 1 ? ["kernel", "user"].map((kind) =>
				make("span", { class: "key" }, make("i", { class: kind }), kind)) : null),
		box, told,
		result.left_out ? make("p", { class: "about" },
			`${count(result.left_out)} more stacks were left out (--top).`) : null,
		make("details", null, make("summary", null, `Functions (${count(rows.length)})`),
			tableElement(columns, rows, 2, 0)));
}
