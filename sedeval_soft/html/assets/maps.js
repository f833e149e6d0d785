"use strict";
/* The confusion of classes, and F over the thresholds of both sides. */
SED.section("maps", (() => {
  const { element, make, options, plain, colour } = SED;
  let matrices = [], data = null;

  const shaded = () => [[0, colour("page")], [1, colour("accent")]];

  const confusion = () => {
    const of = matrices[Number(element("confusion-basis").value)];
    if (!of) return;
    const columns = [...of.classes, "(missed)"], rows = [...of.classes, "(false alarms)"];
    const cells = [...of.pairs.map((row, i) => [...row, of.missed[i]]), [...of.inserted, null]];
    // Rates of the reference: a class that is everywhere must not drown the others.
    const parts = cells.map((row) => { const all = row.reduce((a, b) => a + b, 0); return row.map((n) => (n === null ? null : all ? n / all : 0)); });
    element("confusion-text").textContent = "Rows are classes of the reference, columns those of the system. Colour is the share of the row; numbers are counts.";
    SED.draw(element("confusion-figure"), (target) => ({
      traces: [{ type: "heatmap", z: parts, x: columns.map(plain), y: rows.map(plain), text: cells.map((row) => row.map((n) => (n === null ? "" : String(n)))),
        texttemplate: target.clientWidth / columns.length > 40 ? "%{text}" : "", textfont: { size: 11 }, colorscale: shaded(), zmin: 0, zmax: 1, xgap: 1, ygap: 1,
        hovertemplate: "reference %{y}<br>system %{x}<br>%{text} (%{z:.1%} of the row)<extra></extra>", colorbar: { thickness: 10, tickformat: ".0%" } }],
      layout: { xaxis: { tickangle: -45, type: "category" }, yaxis: { autorange: "reversed", type: "category" } },
    }));
    const table = element("confusion-table");
    table.tHead.replaceChildren(make("tr", {}, make("th", { scope: "col" }, "reference \\ system"), ...columns.map((name) => make("th", { scope: "col" }, name))));
    table.tBodies[0].replaceChildren(...rows.map((name, i) => make("tr", {}, make("th", { scope: "row" }, name), ...cells[i].map((n) => make("td", {}, n === null ? "" : String(n))))));
  };

  const surface = () => {
    const basis = element("surface-basis").value;
    if (!basis) { element("surface-text").textContent = "There is nothing to draw: the reference is hard, or its thresholds were not swept."; return; }
    const of = element("surface-of").value;
    const name = of === "micro" || of === "macro" ? `${basis}.hard.f1.${of}` : `${basis}.hard.f1[${data.classes[Number(of)]}]`;
    const systems = Array.from({ length: 33 }, (_, i) => Math.round((i + 1) * 3) / 100).filter((t) => t < 1);
    SED.draw(element("surface-figure"), () => {
      const z = data.thresholds.map((reference) => systems.map((t) => SED.hard.scores(data, basis, t, reference)[name]));
      let best = null;
      z.forEach((row, i) => row.forEach((f, j) => { if (f !== null && (!best || f > best.f)) best = { f, t: systems[j], r: data.thresholds[i] }; }));
      element("surface-text").textContent = best ? `The highest F1 drawn is ${SED.number(best.f)}, at ${best.t} of the system and ${best.r} of the reference. The cross is what was evaluated.` : "F is undefined at all thresholds.";
      return {
        traces: [{ type: "heatmap", x: systems, y: data.thresholds, z, colorscale: "Cividis", zmin: 0, colorbar: { thickness: 10 }, hovertemplate: "system %{x}<br>reference %{y}<br>F1 %{z:.4f}<extra></extra>" },
          { x: [data.threshold], y: [data.reference_threshold], mode: "markers", marker: { symbol: "x-thin", size: 14, line: { width: 3, color: "#d55e00" } }, hovertemplate: "as evaluated<extra></extra>", showlegend: false }],
        layout: { xaxis: { title: { text: "threshold of the system" } }, yaxis: { title: { text: "threshold of the reference" } } },
      };
    });
  };

  element("confusion-basis").addEventListener("change", confusion);
  element("surface-basis").addEventListener("change", surface);
  element("surface-of").addEventListener("change", surface);
  return {
    show(system, all, index) {
      matrices = all.document.systems[index].confusion;
      data = system.explorer;
      options(element("confusion-basis"), matrices.map(({ basis, reading }, i) => [i, `${basis}, ${reading}`]));
      confusion();
      const bases = data && data.thresholds.length > 1 ? SED.hard.bases(data) : [];
      options(element("surface-basis"), bases.map((basis) => [basis, basis]));
      options(element("surface-of"), [["macro", "macro F1"], ["micro", "micro F1"], ...(data ? data.classes.map((name, c) => [c, name]) : [])]);
      surface();
    },
  };
})());
