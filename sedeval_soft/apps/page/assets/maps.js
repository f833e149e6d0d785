"use strict";
/* The confusion of classes. */
SED.section("maps", (() => {
  const { element, options, plain, colour } = SED;
  let matrices = [], sizes = new Map();

  const NAMED = 25, COLUMN = 24, NAMES = 200;
  const short = (name) => (name.length > NAMED ? `${name.slice(0, NAMED - 1)}…` : name);

  /* How many segments or events the reference or the system has of a class. */
  const size = (basis, measure, label) => sizes.get(`${basis}.hard.${measure}[${label}]`) || 0;

  const confusion = () => {
    const of = matrices[Number(element("confusion-basis").value)];
    SED.present("confusion", of);
    if (!of) return;
    const unit = of.basis === "event" ? "events" : of.basis === "clip" ? "clips" : "segments";
    const classes = of.classes, names = [...classes, "(nothing)"], n = classes.length;
    const cells = [...of.pairs.map((row, i) => [...row, of.missed[i]]), [...of.inserted, null]];
    // As in the figure of `plot confusion`: of a row its reference, of the last row what the system has of the class.
    const whole = (i, j) => (i < n ? size(of.basis, "n_ref", classes[i]) : size(of.basis, "n_sys", classes[j]));
    const parts = cells.map((row, i) => row.map((count, j) => (count === null || !whole(i, j) ? null : count / whole(i, j))));
    element("confusion-text").textContent = of.basis === "event"
      ? "A cell counts the events of the reference that have the class of the row and were matched with events of the system that have the class of the column. Its shade is their share of all events of the row, so the diagonal is the recall of each class. Beside the diagonal are events at the right time with the wrong class, and under (nothing) those without any match: missed, or false alarms."
      : `A cell counts the ${unit} in which the reference has the class of the row and the system has the class of the column. Its shade is their share of all ${unit} of the row's class, so the diagonal is the recall of each class. Classes that sound at the same time meet beside the diagonal without any error. Under (nothing) are ${unit} in which the other side has no class at all: missed altogether, or false alarms.`;
    const ticks = { tickvals: [...names.keys()], ticktext: names.map((name) => plain(short(name))), showgrid: false, zeroline: false, tickfont: { size: 11 } };
    const only = (inside) => parts.map((row, i) => row.map((part, j) => (inside(i, j) && cells[i][j] !== null ? part || 0 : null)));
    SED.draw(element("confusion-figure"), (target) => {
      const width = Math.max(target.parentElement.clientWidth, COLUMN * names.length + NAMES);
      const each = (z, name, what) => ({
        type: "heatmap", z, text: cells.map((row, i) => row.map((count, j) => (z[i][j] === null ? "" : String(count)))), xgap: 1, ygap: 1, hoverongaps: false,
        zmin: 0, zmax: 1, colorscale: [[0, colour("page")], [1, colour(name)]], showscale: name === "accent", colorbar: { thickness: 10, tickformat: ".0%" },
        texttemplate: width / names.length > 38 ? "%{text}" : "", textfont: { size: 11 },
        customdata: cells.map((row, i) => row.map((_, j) => [plain(names[i]), plain(names[j]), `${(100 * (parts[i][j] || 0)).toFixed(1)} %`])),
        hovertemplate: `${what}<br>%{text} ${unit}, %{customdata[2]}<extra></extra>`,
      });
      return {
        traces: [
          each(only((i, j) => i < n && j < n), "accent", "reference %{customdata[0]}<br>system %{customdata[1]}"),
          each(only((i, j) => i < n && j === n), "miss", "reference %{customdata[0]}<br>missed: the system has nothing"),
          each(only((i, j) => i === n && j < n), "false-alarm", "system %{customdata[1]}<br>false alarm: the reference has nothing"),
        ],
        layout: {
          width, height: Math.max(360, Math.min(COLUMN * names.length + NAMES, 1000)),
          xaxis: { ...ticks, tickangle: -60, title: { text: "system", standoff: 8 } },
          yaxis: { ...ticks, autorange: "reversed", title: { text: "reference", standoff: 8 } },
        },
      };
    });
    SED.fill(element("confusion-table"), ["reference \\ system", ...names], names.map((name, i) => [name, ...cells[i].map((count) => count ?? "")]));
  };

  element("confusion-basis").addEventListener("change", confusion);
  return {
    show(system, all, index) {
      matrices = all.document.systems[index].confusion.filter(({ classes }) => classes.length);
      sizes = new Map(all.document.systems[index].scores.filter(({ measure }) => measure === "n_ref" || measure === "n_sys").map(({ name, value }) => [name, value]));
      options(element("confusion-basis"), matrices.map(({ basis }, i) => [i, basis]));
      confusion();
    },
  };
})());
