"use strict";
/* Curves over all thresholds. */
SED.section("curves", (() => {
  const { element, options, plain, colour } = SED;
  /* Okabe and Ito's colours, which most colour-blind people can tell apart, with dashes for those who cannot. */
  const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#b8a800"];
  const dashes = ["solid", "dash", "dot", "dashdot"];
  const line = (i) => ({ color: colours[i % colours.length], dash: dashes[Math.floor(i / colours.length) % dashes.length], width: 2 });
  const cells = (of) => "false_positive_rate" in (of.classes[0] || of.pooled || {});
  const normal = [0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999], deviates = [-3.0902, -2.3263, -1.6449, -0.8416, 0, 0.8416, 1.6449, 2.3263, 3.0902];
  const deviate = (text) => ({ title: { text }, tickvals: deviates, ticktext: normal.map((p) => `${+(p * 100).toFixed(1)} %`), range: [-3.1, 3.1] });
  const rate = (text) => ({ title: { text }, range: [-0.02, 1.02] });
  const kinds = {
    pr: { name: "precision over recall", said: "Precision against recall at all thresholds of the system. A line that stays high up to the right is good.", x: "recall", y: "precision", xaxis: rate("recall"), yaxis: rate("precision"), has: () => true },
    roc: { name: "ROC", said: "The share of active segments that the system finds, against the share of silent segments in which it is active. A line close to the upper left corner is good.", x: "false_positive_rate", y: "recall", xaxis: rate("false positive rate"), yaxis: rate("true positive rate"), has: cells },
    det: { name: "DET", said: "The share of active segments that the system misses, against the share of silent segments in which it is active. A line close to the lower left corner is good.", x: "det_x", y: "det_y", xaxis: deviate("false positive rate"), yaxis: deviate("miss rate"), has: cells },
    f1: { name: "F1 over thresholds", said: "F1 at each threshold of the system. Where a line is flat, the threshold hardly matters.", x: "threshold", y: "f1", xaxis: { title: { text: "threshold of the system" }, range: [-0.02, 1.02] }, yaxis: rate("F1"), has: () => true, shape: "hv" },
  };
  let data = null;

  /* The legend stands above the figure and makes it higher; that of very many lines would take the page. */
  const MANY = 24;
  const legend = (traces) => (traces.length > MANY ? { showlegend: false } : { legend: { orientation: "h", y: 1.02, yanchor: "bottom" }, height: 440 + 20 * Math.ceil(traces.length / Math.max(1, Math.floor(element("curve-figure").clientWidth / 180))) });

  const drawKind = (kind) => {
    const of = data.families[element("curve-family").value];
    const { x, y, xaxis, yaxis, shape } = kinds[kind];
    const traces = of.classes.map((own, i) => ({ name: plain(own.name), x: own[x], y: own[y], line: { ...line(i), shape: shape || "linear" }, mode: "lines",
      customdata: Array.from(own.threshold, (t) => (Number.isNaN(t) ? "none: all segments" : t.toFixed(4))), hovertemplate: `%{fullData.name}<br>${x} %{x:.4f}, ${y} %{y:.4f}<br>threshold %{customdata}<extra></extra>` }));
    const pooled = of.pooled && of.classes.length !== 1;
    if (pooled) traces.push({ name: "all classes together", x: of.pooled[x], y: of.pooled[y], mode: "lines", line: { color: colour("ink"), width: 4, shape: shape || "linear" } });
    const left = of.left_out ? ` The lines of ${of.left_out} ${of.left_out === 1 ? "class" : "classes"} are left out: there are too many to draw.` : "";
    element("curve-text").textContent = `${kinds[kind].said} Each class has a line${pooled ? ", and the thick line is for all classes together" : ""}. A class without a reference has none.${left}${traces.length > MANY ? " Point at a line to see its class." : ""}`;
    return { traces, layout: { xaxis, yaxis, ...legend(traces) } };
  };

  const drawReliability = () => {
    const bins = data.reliability[element("curve-family").value];
    element("curve-text").textContent = "Segments in which the system has similar values are taken together. Each mark shows the mean of the system and the mean of the reference over such a group; a larger mark has more segments. A system whose values can be trusted lies on the dotted diagonal.";
    const lines = [{ x: [0, 1], y: [0, 1], mode: "lines", line: { color: colour("soft-ink"), dash: "dot" }, hoverinfo: "skip", showlegend: false },
        ...bins.map(({ name, equal_width: of }, i) => ({ name: plain(name), x: of.score, y: of.reference, mode: "lines+markers", line: line(i),
          marker: { size: [...of.size].map((n) => 4 + 2 * Math.log10(1 + n)) }, customdata: of.size, hovertemplate: "%{fullData.name}<br>system %{x:.4f}, reference %{y:.4f}<br>%{customdata} segments<extra></extra>" }))];
    return { traces: lines, layout: { xaxis: rate("mean of the system"), yaxis: rate("mean of the reference"), ...legend(lines) } };
  };

  const drawRoc = () => {
    element("curve-text").textContent = "The effective true positive rate against the effective false positives per hour. PSDS is the area below this line.";
    const shown = [["psd_roc", "PSD-ROC"], ["pi_psd_roc", "best of the median filters"]].filter(([name]) => data[name]);
    return { traces: shown.map(([name, text], i) => ({ name: text, x: data[name].efpr, y: data[name].etpr, mode: "lines", line: { ...line(i), shape: "hv" } })),
      layout: { xaxis: { title: { text: "effective false positives per hour" }, rangemode: "tozero" }, yaxis: rate("effective true positive rate"), ...legend(shown) } };
  };

  const families = (kind) => {
    if (kind === "psd") return ["intersection"];
    if (kind === "reliability") return Object.keys(data.reliability);
    return Object.keys(data.families).filter((name) => kinds[kind].has(data.families[name]));
  };

  const update = () => {
    const kind = element("curve-kind").value;
    if (!kind) return;
    options(element("curve-family"), families(kind).map((name) => [name, name.replace(".", ", ")]));
    const of = kind === "psd" ? drawRoc : kind === "reliability" ? drawReliability : () => drawKind(kind);
    SED.draw(element("curve-figure"), of);
  };

  element("curve-kind").addEventListener("change", update);
  element("curve-family").addEventListener("change", update);
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
