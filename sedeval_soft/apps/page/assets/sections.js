"use strict";
/* The threshold explorer, the scores of classes, and the list of all scores. */
SED.section("explorer", (() => {
  const { element, make, number, options } = SED;
  const measures = [["f1", "F1"], ["fbeta", "Fβ"], ["precision", "P"], ["recall", "R"], ["error_rate", "ER"]];
  const sorted = SED.sortable(element("explorer-classes"));
  let data = null, threshold = 0.5, reference = 0.5, drawn = "";

  const table = (found) => {
    const shown = measures.filter(([name]) => name !== "fbeta" || data.beta !== 1);
    // Of one class all averages are the same.
    const averages = data.classes.length > 1 ? ["macro", "micro"] : ["micro"];
    const [first, second] = [make("tr", {}, make("th", { scope: "col", rowspan: 2 }, "basis")), make("tr")];
    for (const average of averages) {
      first.append(make("th", { scope: "colgroup", colspan: shown.length }, average));
      second.append(...shown.map(([, text]) => make("th", { scope: "col" }, text)));
    }
    element("explorer-scores").tHead.replaceChildren(first, second);
    element("explorer-scores").tBodies[0].replaceChildren(...Object.entries(found).map(([basis, scores]) =>
      make("tr", {}, make("th", { scope: "row" }, basis), ...averages.flatMap((average) => shown.map(([name]) => {
        const score = `${basis}.hard.${name}.${average}`;
        return make("td", { "data-score": score, "data-value": scores[score] ?? "" }, number(scores[score]));
      })))));
  };

  const classes = (basis, scores) => {
    const columns = [{ name: "class", key: "class", text: true }, ...[["n_ref", "N_ref"], ["n_sys", "N_sys"], ["tp", "TP"], ...measures]
      .filter(([name]) => name !== "fbeta" || data.beta !== 1)
      .map(([key, name]) => ({ name, key, bar: ["precision", "recall", "f1", "fbeta"].includes(key) }))];
    sorted(columns, data.classes.map((label) => {
      const names = Object.fromEntries(columns.slice(1).map(({ key }) => [key, `${basis}.hard.${key}[${label}]`]));
      return { class: label, names, ...Object.fromEntries(Object.entries(names).map(([key, name]) => [key, scores[name]])) };
    }));
  };

  /* Precision over recall for the reference as it is cut now: found once for each reference threshold. */
  const traced = { key: "", points: [] };
  const trace = (basis) => {
    const key = `${basis} ${reference}`;
    if (traced.key === key) return traced.points;
    traced.key = key;
    traced.points = Array.from({ length: 101 }, (_, i) => i / 100).filter((t) => !(data.inclusive && t === 0)).map((t) => {
      const scores = SED.hard.scores(data, basis, t, reference);
      return { t, p: scores[`${basis}.hard.precision.micro`], r: scores[`${basis}.hard.recall.micro`] };
    });
    return traced.points;
  };

  const curve = (basis, scores) => SED.draw(element("explorer-curve"), () => {
    const points = trace(basis);
    return {
      traces: [
        { x: points.map(({ r }) => r), y: points.map(({ p }) => p), text: points.map(({ t }) => `threshold ${t}`), mode: "lines",
          line: { color: SED.colour("accent"), width: 2 }, hovertemplate: "%{text}<br>R %{x:.4f}, P %{y:.4f}<extra></extra>", showlegend: false },
        { x: [scores[`${basis}.hard.recall.micro`]], y: [scores[`${basis}.hard.precision.micro`]], mode: "markers",
          marker: { color: SED.colour("ink"), size: 13, symbol: "diamond", line: { width: 2, color: SED.colour("page") } },
          hovertemplate: `threshold ${threshold}<br>R %{x:.4f}, P %{y:.4f}<extra></extra>`, showlegend: false },
      ],
      layout: { xaxis: { title: { text: "recall (micro)" }, range: [-0.02, 1.02] }, yaxis: { title: { text: "precision (micro)" }, range: [-0.02, 1.02] } },
    };
  });

  const update = () => {
    const found = Object.fromEntries(SED.hard.bases(data).map((basis) => [basis, SED.hard.scores(data, basis, threshold, reference)]));
    const basis = element("explorer-basis").value;
    element("system-threshold").value = threshold;
    element("system-number").value = threshold;
    element("reference-threshold").value = data.thresholds.indexOf(reference);
    element("reference-threshold").setAttribute("aria-valuetext", String(reference));
    element("reference-number").textContent = String(reference);
    element("explorer-command").textContent = `--threshold ${threshold} --reference-threshold ${reference}`;
    table(found); classes(basis, found[basis]); curve(basis, found[basis]);
  };

  /* Where not all thresholds are embedded, the nearest one that is. */
  const near = (value) => {
    const inside = Math.min(Math.max(value, data.inclusive ? 0.01 : 0), 1);
    if (data.exact) return inside;
    return data.levels[0].reduce((best, level) => (Math.abs(level - inside) < Math.abs(best - inside) ? level : best));
  };

  const move = (value) => {
    if (!Number.isFinite(value)) return;
    threshold = near(value);
    update();
  };

  element("system-threshold").addEventListener("input", (event) => move(Number(event.target.value)));
  element("system-number").addEventListener("change", (event) => move(event.target.value === "" ? NaN : Number(event.target.value)));
  element("reference-threshold").addEventListener("input", (event) => { reference = data.thresholds[Number(event.target.value)]; update(); });
  element("explorer-basis").addEventListener("change", update);
  element("threshold-reset").addEventListener("click", () => { threshold = data.threshold; reference = data.reference_threshold; update(); });

  return {
    show(system) {
      const changed = data !== system.explorer;
      data = system.explorer;
      SED.present("explorer", data);
      if (!data) return;
      element("explorer-by-class").hidden = data.classes.length < 2;
      element("explorer-system").hidden = !data.moves.system;
      element("explorer-reference").hidden = !data.moves.reference;
      const without = [...(data.segment && !data.exact ? ["segments"] : []), ...(data.event && data.event.some(({ paired }) => !paired) ? ["events"] : [])];
      const limits = (data.exact ? "" : " This page has too many values to hold them all: thresholds move in steps of 0.01, and the scores at these are exact.")
        + (without.length ? ` The micro error rate of ${without.join(" and ")} is left out, because it needs all classes at the same moment.` : "");
      element("explorer-note").textContent = `Move a threshold, and this page computes the hard scores again, exactly as the command would.${limits}`;
      options(element("explorer-basis"), SED.hard.bases(data).map((basis) => [basis, basis]));
      element("reference-threshold").max = data.thresholds.length - 1;
      if (changed) traced.key = "";
      if (drawn === "" || !data.thresholds.includes(reference)) { threshold = data.threshold; reference = data.reference_threshold; }
      drawn = system.name;
      update();
    },
  };
})());

SED.section("classes", (() => {
  const { element, options } = SED;
  const sorted = SED.sortable(element("class-scores"), element("class-more"));
  const unit = /^(precision|recall|f1|fbeta|average_precision|roc_auc|partial_auc|sensitivity|specificity|accuracy|balanced_accuracy|npv|.*_calibration_error|brier$|joint_f|single_f|satisficed_(f|precision|recall))/;
  const main = ["n_ref", "n_sys", "tp", "fp", "fn", "f1", "fbeta", "precision", "recall", "error_rate", "kl_divergence", "threshold", "psds"];
  const OVERVIEW = "F1", units = { segment: "segments", clip: "files", event: "events", intersection: "events" };
  let families = new Map(), labels = {}, overview = [], silent = new Map();

  /* A row for each class with the scores of some columns: { key, family, measure }, the worst first. ends: whether
     counts have their intervals, too. */
  const table = (columns, first, ends = true) => {
    const rows = new Map();
    for (const { key, family, measure } of columns) {
      for (const score of families.get(family).get(measure) || []) {
        if (!rows.has(score.class)) rows.set(score.class, { class: score.class, names: {}, ends: {} });
        const row = rows.get(score.class);
        row[key] = score.value; row.names[key] = score.name;
        if (score.low !== null && score.high !== null && (ends || measure !== "n_ref")) row.ends[key] = [score.low, score.high];
      }
    }
    for (const row of rows.values()) {
      for (const { key } of columns) row[key] ??= null;
      row.note = silent.get(row.class);
    }
    const worse = (a, b) => {
      const column = columns.find(({ key, measure }) => measure === "f1" && a[key] !== b[key]);
      return column ? (a[column.key] ?? Infinity) - (b[column.key] ?? Infinity) : 0;
    };
    sorted([{ name: "class", key: "class", text: true }, ...columns], [...rows.values()].sort(worse), first);
  };

  /* F1 in all readings, and beside them how much of each class there is. */
  const all = () => overview.flatMap((family) => {
    const [basis, reading] = family.split(" ");
    const firstOfBasis = overview.find((each) => each.startsWith(`${basis} `)) === family;
    return [...(firstOfBasis ? ["n_ref"] : []), "f1"].filter((measure) => families.get(family).has(measure)).map((measure) => ({
      key: `${family} ${measure}`, family, measure, group: basis, bar: measure === "f1",
      name: measure === "f1" ? reading : units[basis],
      title: measure === "f1" ? `F1, ${reading} reading` : "how many the reference has",
    }));
  });

  const update = () => {
    const chosen = element("class-family").value, measures = families.get(chosen);
    element("class-group-label").hidden = !measures;
    element("class-text").hidden = Boolean(measures);
    if (!measures) {
      const columns = all();
      table(columns, columns.find(({ measure }) => measure === "f1")?.key, false);
      return;
    }
    const others = [...measures.keys()].filter((name) => !main.includes(name));
    options(element("class-group"), [["main", "main"], ...(others.length ? [["others", "others"]] : [])]);
    const names = element("class-group").value === "others" ? others : [...measures.keys()].filter((name) => main.includes(name));
    table(names.map((measure) => ({ key: measure, measure, family: chosen, name: labels[measure] || measure.replaceAll("_", " "), title: measure.replaceAll("_", " "), bar: unit.test(measure) })),
      names.includes("f1") ? "f1" : null);
  };

  element("class-family").addEventListener("change", update);
  element("class-group").addEventListener("change", update);
  return {
    show(system, data, index) {
      families = new Map();
      labels = data.labels;
      silent = new Map(Object.entries(system.silent));
      for (const score of data.document.systems[index].scores) {
        if (score.class === null || score.group !== null) continue;
        const family = `${score.basis} ${score.reading}`;
        if (!system.families.includes(`${score.basis}.${score.reading}`)) continue;
        if (!families.has(family)) families.set(family, new Map());
        const measures = families.get(family);
        if (!measures.has(score.measure)) measures.set(score.measure, []);
        measures.get(score.measure).push(score);
      }
      // One class has the scores of all classes together, which stand above.
      overview = data.document.systems[index].classes.length < 2 ? [] : system.rows.filter((name) => families.get(name)?.has("f1"));
      options(element("class-family"), [...(overview.length ? [[OVERVIEW, "F1, all readings"]] : []), ...[...families.keys()].map((name) => [name, name.replace(" ", ", ")])]);
      SED.present("classes", families.size);
      update();
    },
  };
})());

SED.section("all", (() => {
  const { element, make, number } = SED;
  const most = 200;
  let scores = [], results = null;

  const update = () => {
    const words = element("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = scores.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    element("found").textContent = found.length > most ? `${found.length} scores, of which the first ${most} are listed` : `${found.length} ${found.length === 1 ? "score" : "scores"}`;
    const ends = scores.some(({ low }) => low !== null) ? ["low", "high"] : [];
    element("all-scores").tHead.replaceChildren(make("tr", {}, ...["name", "value", ...ends].map((name) => make("th", { scope: "col" }, name))));
    element("all-scores").tBodies[0].replaceChildren(...found.slice(0, most).map((score) => make("tr", {},
      make("th", { scope: "row" }, score.name), make("td", { "data-score": score.name, "data-value": score.value ?? "" }, number(score.value, score.measure)),
      ...ends.map((end) => make("td", {}, number(score[end], score.measure))))));
  };

  element("find").addEventListener("input", update);
  element("download").addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([JSON.stringify(results, null, 2)], { type: "application/json" }));
    make("a", { href: address, download: "scores.json" }).click();
    URL.revokeObjectURL(address);
  });
  return {
    show(system, data, index) {
      scores = data.document.systems[index].scores.filter(({ basis, reading }) => system.families.includes(`${basis}.${reading}`));
      results = data.document;
      update();
    },
  };
})());
