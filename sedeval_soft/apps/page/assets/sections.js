"use strict";
/* The threshold explorer, the scores of classes, and the list of all scores. */
SED.section("explorer", (() => {
  const { element, options } = SED;
  const measures = [["f1", "F1"], ["fbeta", "Fβ"], ["precision", "P"], ["recall", "R"], ["error_rate", "ER"]];
  const averaged = SED.sortable(element("explorer-scores")), sorted = SED.sortable(element("explorer-classes"));
  let data = null, threshold = 0.5, reference = 0.5, drawn = "";

  /* Fill a table of hard scores: a row for each of some names, and for each column the score that it is named after. */
  const fill = (table, heading, columns, rows) => table([{ name: heading, key: "row", text: true }, ...columns], rows.map(([row, scores, named]) => {
    const names = Object.fromEntries(columns.map(({ key }) => [key, named(key)]));
    return { row, names, ...Object.fromEntries(Object.entries(names).map(([key, name]) => [key, scores[name]])) };
  }));

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
          line: { color: SED.colour("accent"), width: 2 }, hovertemplate: "%{text}<br>R %{x:.3f}, P %{y:.3f}<extra></extra>", showlegend: false },
        { x: [scores[`${basis}.hard.recall.micro`]], y: [scores[`${basis}.hard.precision.micro`]], mode: "markers",
          marker: { color: SED.colour("ink"), size: 13, symbol: "diamond", line: { width: 2, color: SED.colour("page") } },
          hovertemplate: `threshold ${threshold}<br>R %{x:.3f}, P %{y:.3f}<extra></extra>`, showlegend: false },
      ],
      layout: { xaxis: { title: { text: "recall (micro)" }, range: [-0.02, 1.02] }, yaxis: { title: { text: "precision (micro)" }, range: [-0.02, 1.02] } },
    };
  });

  const update = () => {
    const found = Object.fromEntries(SED.hard.bases(data).map((basis) => [basis, SED.hard.scores(data, basis, threshold, reference)]));
    const basis = element("explorer-basis").value;
    element("system-threshold").value = threshold;
    element("system-number").value = threshold;
    element("reference-threshold").value = reference;
    element("explorer-command").textContent = `--threshold ${threshold} --reference-threshold ${reference}`;
    const shown = measures.filter(([name]) => name !== "fbeta" || data.beta !== 1);
    // Of one class all averages are the same.
    const averages = data.classes.length > 1 ? ["macro", "micro"] : ["micro"];
    fill(averaged, "basis", averages.flatMap((group) => shown.map(([measure, name]) => ({ name, measure, group, key: `${measure}.${group}` }))),
      Object.entries(found).map(([row, scores]) => [row, scores, (key) => `${row}.hard.${key}`]));
    fill(sorted, "class", [["n_ref", "N_ref"], ["n_sys", "N_sys"], ["tp", "TP"], ...shown].map(([key, name]) => ({ name, key })),
      data.classes.map((label) => [label, found[basis], (key) => `${basis}.hard.${key}[${label}]`]));
    curve(basis, found[basis]);
  };

  /* The nearest threshold that is embedded. */
  const near = (value) => data.grid.filter((each) => each > 0 || !data.inclusive).reduce((best, each) => (Math.abs(each - value) < Math.abs(best - value) ? each : best));

  const move = ({ target: { value } }) => {
    if (value === "" || !Number.isFinite(Number(value))) return;
    threshold = near(Number(value));
    update();
  };

  element("system-threshold").addEventListener("input", move);
  element("system-number").addEventListener("change", move);
  element("reference-threshold").addEventListener("change", ({ target }) => { reference = Number(target.value); update(); });
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
      const other = data.moves.reference ? " Another threshold of the reference is another task: it changes which events there are to find." : "";
      const limits = data.bases.event?.some(({ paired }) => !paired) ? " The micro error rate of events is left out: too many of them overlap." : "";
      element("explorer-note").textContent = `Move a threshold, and this page computes the hard scores again, exactly as the command would, at each hundredth.${other}${limits}`;
      options(element("explorer-basis"), SED.hard.bases(data).map((basis) => [basis, basis]));
      options(element("reference-threshold"), data.thresholds.map((each) => [each, each]));
      if (changed) traced.key = "";
      if (drawn === "" || !data.thresholds.includes(reference)) { threshold = data.threshold; reference = data.reference_threshold; }
      drawn = system.name;
      update();
    },
  };
})());

SED.section("classes", (() => {
  const { element, options } = SED;
  const sorted = SED.sortable(element("class-scores"));
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
  const { element, make } = SED;
  const sorted = SED.sortable(element("all-scores"));
  let scores = [], results = null;

  const update = () => {
    const words = element("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = scores.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    element("found").textContent = `${found.length} ${found.length === 1 ? "score" : "scores"}`;
    const ends = scores.some(({ low }) => low !== null) ? ["low", "high"] : [];
    sorted([{ name: "name", key: "name", text: true }, ...["value", ...ends].map((key) => ({ name: key, key }))], found.map((score) => ({ ...score, names: { value: score.name } })));
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
