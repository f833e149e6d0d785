"use strict";
/* The confusion of classes, and F over the thresholds of both sides. */
SED.section("maps", (() => {
  const { element, make, options, plain, colour } = SED;
  let matrices = [], sizes = new Map(), data = null;

  const shaded = (name) => [[0, colour("page")], [1, colour(name)]];
  const NAMED = 25;
  /* Names are cut in the middle, where they are alike least often. */
  const short = (name, most) => (name.length > most ? `${name.slice(0, most / 2)}…${name.slice(1 - most / 2)}` : name);
  const share = (part) => `${(100 * part).toFixed(1)} %`;

  /* How many segments or events the reference or the system has of a class. */
  const size = (basis, measure, label) => sizes.get(`${basis}.hard.${measure}[${label}]`) || 0;

  const confusion = () => {
    const of = matrices[Number(element("confusion-basis").value)];
    element("confusion").hidden = !of;
    if (!of) return;
    const unit = of.basis === "event" ? "events" : of.basis === "clip" ? "clips" : "segments";
    const classes = of.classes, nothing = "(nothing)", columns = [...classes, nothing], rows = [...classes, nothing];
    const cells = [...of.pairs.map((row, i) => [...row, of.missed[i]]), [...of.inserted, null]];
    // As in the figure of `plot confusion`: of a row its reference, of the last row what the system has of the class.
    const whole = (i, j) => (i < classes.length ? size(of.basis, "n_ref", classes[i]) : size(of.basis, "n_sys", classes[j]));
    const parts = cells.map((row, i) => row.map((n, j) => (n === null || !whole(i, j) ? null : n / whole(i, j))));
    element("confusion-text").textContent = of.basis === "event"
      ? "A cell counts the events of the reference that have the class of the row and were matched with events of the system that have the class of the column. Its shade is their share of all events of the row, so the diagonal is the recall of each class. Beside the diagonal are events at the right time with the wrong class, and under (nothing) those without any match: missed, or false alarms."
      : `A cell counts the ${unit} in which the reference has the class of the row and the system has the class of the column. Its shade is their share of all ${unit} of the row's class, so the diagonal is the recall of each class. Classes that sound at the same time meet beside the diagonal without any error. Under (nothing) are ${unit} in which the other side has no class at all: missed altogether, or false alarms.`;
    const texts = { x: columns.map((name) => plain(short(name, NAMED))), y: rows.map((name) => plain(short(name, NAMED))) };
    const only = (inside) => parts.map((row, i) => row.map((part, j) => (inside(i, j) && cells[i][j] !== null ? part || 0 : null)));
    const n = classes.length;
    SED.draw(element("confusion-figure"), (target) => {
      const each = (z, name, what) => ({
        type: "heatmap", z, text: cells.map((row, i) => row.map((count, j) => (z[i][j] === null ? "" : String(count)))), xgap: 1, ygap: 1, hoverongaps: false,
        // The full shade would hide the count in it.
        zmin: 0, zmax: 2,
        texttemplate: target.clientWidth / columns.length > 40 ? "%{text}" : "", textfont: { size: 11 }, colorscale: shaded(name), showscale: false,
        customdata: cells.map((row, i) => row.map((_, j) => [plain(rows[i]), plain(columns[j]), share(parts[i][j] || 0)])),
        hovertemplate: `${what}<br>%{text} ${unit}, %{customdata[2]}<extra></extra>`,
      });
      const places = [...columns.keys()];
      return {
        traces: [
          each(only((i, j) => i < n && j < n), "heat", "reference %{customdata[0]}<br>system %{customdata[1]}"),
          each(only((i, j) => i < n && j === n), "miss", "reference %{customdata[0]}<br>missed: the system has nothing"),
          each(only((i, j) => i === n && j < n), "false-alarm", "system %{customdata[1]}<br>false alarm: the reference has nothing"),
        ],
        layout: {
          xaxis: { tickangle: -45, tickvals: places, ticktext: texts.x, showgrid: false, zeroline: false, title: { text: "system", standoff: 8 } },
          yaxis: { autorange: "reversed", tickvals: places, ticktext: texts.y, showgrid: false, zeroline: false, title: { text: "reference", standoff: 8 } },
          height: Math.max(440, Math.min(28 * rows.length + 170, 1000)),
        },
      };
    });
    const table = element("confusion-table");
    table.tHead.replaceChildren(make("tr", {}, make("th", { scope: "col" }, "reference \\ system"), ...columns.map((name) => make("th", { scope: "col" }, name))));
    table.tBodies[0].replaceChildren(...rows.map((name, i) => make("tr", {}, make("th", { scope: "row" }, name), ...cells[i].map((n) => make("td", {}, n === null ? "" : String(n))))));
  };

  const surface = () => {
    const basis = element("surface-basis").value;
    element("surface").hidden = !basis;
    if (!basis) return;
    const of = element("surface-of").value;
    const name = of === "micro" || of === "macro" ? `${basis}.hard.f1.${of}` : `${basis}.hard.f1[${data.classes[Number(of)]}]`;
    const systems = Array.from({ length: 33 }, (_, i) => Math.round((i + 1) * 3) / 100).filter((t) => t < 1);
    SED.draw(element("surface-figure"), () => {
      const z = data.thresholds.map((reference) => systems.map((t) => SED.hard.scores(data, basis, t, reference)[name]));
      let best = null;
      z.forEach((row, i) => row.forEach((f, j) => { if (f !== null && (!best || f > best.f)) best = { f, t: systems[j], r: data.thresholds[i] }; }));
      element("surface-text").textContent = best ? `F1 at each pair of thresholds: that of the system from left to right, that of the reference upwards. The highest here is ${SED.number(best.f)}, where the system is cut at ${best.t} and the reference at ${best.r}. The cross marks the thresholds of this evaluation.` : "F1 is undefined at all thresholds.";
      return {
        traces: [{ type: "heatmap", x: systems, y: data.thresholds, z, colorscale: "Cividis", zmin: 0, colorbar: { thickness: 10 }, hovertemplate: "system %{x}<br>reference %{y}<br>F1 %{z:.4f}<extra></extra>" },
          ...[["#000000", 6], ["#ffffff", 3]].map(([own, width]) => ({ x: [data.threshold], y: [data.reference_threshold], mode: "markers",
            marker: { symbol: "x-thin", size: 14, line: { width, color: own } }, hovertemplate: "as evaluated<extra></extra>", showlegend: false }))],
        layout: { xaxis: { title: { text: "threshold of the system" } }, yaxis: { title: { text: "threshold of the reference" } } },
      };
    });
  };

  element("confusion-basis").addEventListener("change", confusion);
  element("surface-basis").addEventListener("change", surface);
  element("surface-of").addEventListener("change", surface);
  return {
    show(system, all, index) {
      matrices = all.document.systems[index].confusion.filter(({ classes }) => classes.length);
      sizes = new Map(all.document.systems[index].scores.filter(({ measure }) => measure === "n_ref" || measure === "n_sys").map(({ name, value }) => [name, value]));
      data = system.explorer;
      options(element("confusion-basis"), matrices.map(({ basis }, i) => [i, basis]));
      const bases = data && data.thresholds.length > 1 && data.moves.reference && data.moves.system ? SED.hard.bases(data) : [];
      options(element("surface-basis"), bases.map((basis) => [basis, basis]));
      options(element("surface-of"), [["macro", "macro F1"], ["micro", "micro F1"], ...(data ? data.classes.map((name, c) => [c, name]) : [])]);
      SED.present("maps", matrices.length || bases.length);
      element("maps-title").textContent = bases.length ? "Confusion and surface" : "Confusion";
      confusion();
      surface();
    },
  };
})());
