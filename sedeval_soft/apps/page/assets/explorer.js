"use strict";
/* Hard scores at any threshold of either side, found from what the page embeds as the evaluator finds them.
   The formulas are those of sedeval_soft/measures/detection.py and averages.py; null is undefined. */
SED.hard = (() => {
  /* How many of ascending levels lie below a value (or at it). */
  const below = (levels, value, orAt) => {
    let low = 0, high = levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (levels[middle] < value || (orAt && levels[middle] === value)) low = middle + 1; else high = middle;
    }
    return low;
  };

  const ratio = (top, bottom) => (bottom === 0 ? null : top / bottom);

  /* The first place that is active at a threshold: above it, or from it on where that counts. */
  const firstActive = (data, levels, threshold) =>
    data.exact ? below(levels, threshold, !data.inclusive) : below(levels, threshold, false) + 1;

  const countCells = (data, threshold, reference) => {
    const { classes, n } = data.segment;
    const counts = { tp: [], n_ref: [], n_sys: [], paired: null };
    const ours = data.exact ? new Uint16Array(n) : null, theirs = data.exact ? new Uint16Array(n) : null;
    classes.forEach((of, c) => {
      const [y, p] = of.places;
      const atY = firstActive(data, data.exact ? of.reference_levels : data.levels[c], reference);
      const atP = firstActive(data, data.levels[c], threshold);
      let tp = 0, nRef = 0, nSys = 0;
      for (let i = 0; i < y.length; i++) {
        const weight = of.count ? of.count[i] : 1, inY = y[i] >= atY, inP = p[i] >= atP;
        if (inY) { nRef += weight; if (ours) ours[i]++; }
        if (inP) { nSys += weight; if (theirs) theirs[i]++; }
        if (inY && inP) tp += weight;
      }
      counts.tp.push(tp); counts.n_ref.push(nRef); counts.n_sys.push(nSys);
    });
    if (ours) {
      counts.paired = 0;
      for (let i = 0; i < n; i++) counts.paired += Math.min(ours[i], theirs[i]);
    }
    return counts;
  };

  /* The place of the last step that holds at a threshold; on a grid each step is of one threshold. */
  const step = (data, lows, threshold) =>
    Math.max(below(lows, threshold, !(data.exact && data.inclusive)) - 1, 0);

  /* The count that holds at the last step: it is told where it changes. */
  const at = (changes, last) => changes.count[Math.max(below(changes.at, last, true) - 1, 0)];

  const countEvents = (data, basis, threshold, reference) => {
    const of = data[basis][data.thresholds.indexOf(reference)];
    const counts = { tp: [], n_ref: [], n_sys: [], paired: null };
    of.classes.forEach(({ n_ref, tp, n_sys }, c) => {
      const last = step(data, data.levels[c], threshold);
      counts.n_ref.push(n_ref); counts.tp.push(at(tp, last)); counts.n_sys.push(at(n_sys, last));
    });
    if (of.paired) counts.paired = at(of.paired, step(data, data.levels[data.classes.length], threshold));
    // Intersections are not matched one to one: what is not right is a miss or a false alarm.
    if (basis === "intersection") counts.paired = counts.tp.reduce((a, b) => a + b, 0);
    return counts;
  };

  const fBeta = (tp, nRef, nSys, beta) => ratio((1 + beta * beta) * tp, beta * beta * nRef + nSys);

  const mean = (values, weights, undefinedAs) => {
    let top = 0, bottom = 0;
    values.forEach((value, c) => {
      const known = value === null ? undefinedAs : value;
      if (known === null) return;
      top += known * weights[c]; bottom += weights[c];
    });
    return ratio(top, bottom);
  };

  const sum = (values) => values.reduce((a, b) => a + b, 0);

  /* All scores of a basis by the names that the evaluator gives them. */
  const scores = (data, basis, threshold, reference) => {
    const counts = basis === "segment" ? countCells(data, threshold, reference)
      : countEvents(data, basis, threshold, reference);
    const { tp, n_ref: nRef, n_sys: nSys, paired } = counts;
    const all = { tp: sum(tp), n_ref: sum(nRef), n_sys: sum(nSys) };
    const present = nRef.map((n) => (n > 0 ? 1 : 0));
    const found = {};
    const put = (measure, ofClasses, micro, undefinedAs = null) => {
      found[`${basis}.hard.${measure}.micro`] = micro;
      found[`${basis}.hard.${measure}.macro`] = mean(ofClasses, present, undefinedAs);
      found[`${basis}.hard.${measure}.weighted`] = mean(ofClasses, nRef, undefinedAs);
      data.classes.forEach((name, c) => { found[`${basis}.hard.${measure}[${name}]`] = ofClasses[c]; });
    };
    put("precision", tp.map((n, c) => ratio(n, nSys[c])), ratio(all.tp, all.n_sys), 0);
    put("recall", tp.map((n, c) => ratio(n, nRef[c])), ratio(all.tp, all.n_ref));
    put("f1", tp.map((n, c) => fBeta(n, nRef[c], nSys[c], 1)), fBeta(all.tp, all.n_ref, all.n_sys, 1));
    if (data.beta !== 1) {
      put("fbeta", tp.map((n, c) => fBeta(n, nRef[c], nSys[c], data.beta)), fBeta(all.tp, all.n_ref, all.n_sys, data.beta));
    }
    const errors = paired === null ? null : ratio(all.n_ref + all.n_sys - paired - all.tp, all.n_ref);
    put("error_rate", tp.map((n, c) => ratio(nRef[c] + nSys[c] - 2 * n, nRef[c])), errors);
    for (const [name, of] of Object.entries({ tp, n_ref: nRef, n_sys: nSys })) {
      found[`${basis}.hard.${name}.micro`] = all[name];
      data.classes.forEach((label, c) => { found[`${basis}.hard.${name}[${label}]`] = of[c]; });
    }
    return found;
  };

  return { scores, bases: (data) => ["segment", "event", "intersection"].filter((basis) => data[basis]) };
})();
