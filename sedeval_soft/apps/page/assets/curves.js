"use strict";
/* Curves over all thresholds: the line of all classes together and of one class are drawn, others are grey. */
SED.section("curves", (() => {
  const { element, options, plain, colour } = SED;
  const cells = (of) => "false_positive_rate" in (of.classes[0] || of.pooled || {});
  const normal = [0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999], deviates = [-3.0902, -2.3263, -1.6449, -0.8416, 0, 0.8416, 1.6449, 2.3263, 3.0902];
  const deviate = (text) => ({ title: { text }, tickvals: deviates, ticktext: normal.map((p) => `${+(p * 100).toFixed(1)} %`), range: [-3.1, 3.1] });
  const rate = (text) => ({ title: { text }, range: [-0.02, 1.02] });
  const kinds = {
    pr: { name: "precision over recall", said: "Precision against recall at all thresholds of the system. A line that stays high up to the right is good.", x: "recall", y: "precision", xaxis: rate("recall"), yaxis: rate("precision"), has: () => true, shape: "hv" },
    roc: { name: "ROC", said: "The share of active segments that the system finds, against the share of silent segments in which it is active. A line close to the upper left corner is good.", x: "false_positive_rate", y: "recall", xaxis: rate("false positive rate"), yaxis: rate("true positive rate"), has: cells },
    det: { name: "DET", said: "The share of active segments that the system misses, against the share of silent segments in which it is active. A line close to the lower left corner is good.", x: "det_x", y: "det_y", xaxis: deviate("false positive rate"), yaxis: deviate("miss rate"), has: cells },
    f1: { name: "F1 over thresholds", said: "F1 at each threshold of the system. Where a line is flat, the threshold hardly matters.", x: "threshold", y: "f1", xaxis: { title: { text: "threshold of the system" }, range: [-0.02, 1.02] }, yaxis: rate("F1"), has: () => true, shape: "hv" },
  };
  let data = null;

  /* Lines of classes, that of the chosen one in colour and before the others, which are named when pointed at. */
  const lines = (classes, line) => {
    const chosen = element("curve-class").value, own = classes.filter(({ name }) => name === chosen);
    return [...classes.filter(({ name }) => name !== chosen).flatMap((each) => line(each, { color: colour("line"), width: 1.5 }, false)),
      ...own.flatMap((each) => line(each, { color: colour("accent"), width: 3 }, true))];
  };
  const grey = (classes) => (classes.length > 1 ? " Other classes are grey: point at a line to see its class." : "");

  const drawKind = (kind) => {
    const of = data.families[element("curve-family").value];
    const { x, y, xaxis, yaxis, shape = "linear" } = kinds[kind];
    const line = (own, style, shown, name = plain(own.name)) => {
      // At no threshold are all segments active: the step to them has no data on it.
      const first = Number.isNaN(own.threshold[0]) ? 1 : 0, drawn = (column, begin, end) => own[column].subarray(begin, end);
      const whole = { name, x: drawn(x, first), y: drawn(y, first), line: { ...style, shape }, mode: "lines", showlegend: shown,
        customdata: Array.from(drawn("threshold", first), (t) => t.toFixed(3)), hovertemplate: `%{fullData.name}<br>${x} %{x:.3f}, ${y} %{y:.3f}<br>threshold %{customdata}<extra></extra>` };
      const step = { x: drawn(x, 0, 2), y: drawn(y, 0, 2), line: { ...style, width: 1.5, dash: "dot" }, mode: "lines", showlegend: false, hoverinfo: "skip" };
      return first && shown ? [whole, step] : [whole];
    };
    const pooled = of.pooled && of.classes.length !== 1;
    const traces = lines(of.classes, line);
    if (pooled) traces.push(...line(of.pooled, { color: colour("ink"), width: 3 }, true, "all classes together"));
    const left = of.left_out ? ` The lines of ${of.left_out} ${of.left_out === 1 ? "class" : "classes"} are left out: there are too many to draw.` : "";
    const dotted = kind !== "f1" && traces.some(({ hoverinfo }) => hoverinfo) ? " The dotted step leads to where every segment is active." : "";
    element("curve-text").textContent = `${kinds[kind].said}${dotted}${grey(of.classes)} A class without a reference has no line.${left}`;
    return { traces, layout: { xaxis, yaxis } };
  };

  const drawReliability = () => {
    const bins = data.reliability[element("curve-family").value];
    element("curve-text").textContent = `Segments in which the system has similar values are taken together. Each mark shows the mean of the system and the mean of the reference over such a group; a larger mark has more segments. A system whose values can be trusted lies on the dotted diagonal.${grey(bins)}`;
    const line = (of, style, shown) => [{ name: plain(of.name), x: of.score, y: of.reference, mode: shown ? "lines+markers" : "lines", line: style, showlegend: shown,
      marker: { size: [...of.size].map((n) => 4 + 2 * Math.log10(1 + n)) }, customdata: of.size, hovertemplate: "%{fullData.name}<br>system %{x:.3f}, reference %{y:.3f}<br>%{customdata} segments<extra></extra>" }];
    const diagonal = { x: [0, 1], y: [0, 1], mode: "lines", line: { color: colour("soft-ink"), dash: "dot" }, hoverinfo: "skip", showlegend: false };
    return { traces: [diagonal, ...lines(bins, line)], layout: { xaxis: rate("mean of the system"), yaxis: rate("mean of the reference") } };
  };

  const drawRoc = () => {
    element("curve-text").textContent = "The effective true positive rate against the effective false positives per hour. PSDS is the area below this line.";
    const shown = [["psd_roc", "PSD-ROC", "ink"], ["pi_psd_roc", "best of the median filters", "accent"]].filter(([name]) => data[name]);
    return { traces: shown.map(([of, name, own]) => ({ name, x: data[of].efpr, y: data[of].etpr, mode: "lines", line: { color: colour(own), width: 2, shape: "hv" }, showlegend: shown.length > 1 })),
      layout: { xaxis: { title: { text: "effective false positives per hour" }, rangemode: "tozero" }, yaxis: rate("effective true positive rate") } };
  };

  const families = (kind) => {
    if (kind === "psd") return ["intersection"];
    if (kind === "reliability") return Object.keys(data.reliability);
    return Object.keys(data.families).filter((name) => kinds[kind].has(data.families[name]));
  };

  const update = () => {
    const kind = element("curve-kind").value, select = element("curve-class"), before = select.value;
    if (!kind) return;
    options(element("curve-family"), families(kind).map((name) => [name, name.replace(".", ", ")]));
    const family = element("curve-family").value, classes = kind === "psd" ? [] : kind === "reliability" ? data.reliability[family] : data.families[family].classes;
    options(select, classes.map(({ name }) => [name, name]));
    // At first the class whose best F1 is lowest, of those that the system ever names.
    const best = ({ f1 = [] }) => (f1.length > 2 ? f1.reduce((a, b) => (b > a ? b : a), 0) : 1);
    if (!before && classes.length) select.value = classes.reduce((a, b) => (best(b) < best(a) ? b : a)).name;
    element("curve-class-label").hidden = classes.length < 2;
    SED.draw(element("curve-figure"), kind === "psd" ? drawRoc : kind === "reliability" ? drawReliability : () => drawKind(kind));
  };

  for (const name of ["kind", "family", "class"]) element(`curve-${name}`).addEventListener("change", update);
  return {
    show(system) {
      data = system.curves;
      const known = Object.keys(kinds).filter((kind) => families(kind).length).map((kind) => [kind, kinds[kind].name]);
      if (Object.keys(data.reliability).length) known.push(["reliability", "reliability"]);
      if (data.psd_roc) known.push(["psd", "PSD-ROC"]);
      options(element("curve-kind"), known);
      SED.present("curves", known.length);
      update();
    },
  };
})());
