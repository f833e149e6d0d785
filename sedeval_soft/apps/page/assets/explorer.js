"use strict";
/* Hard scores at thresholds of either side, found from counts that the page embeds.
   The formulas are those of sedeval_soft/measures/detection.py and averages.py; null is undefined. */
SED.hard = (() => {
  const ratio = (top, bottom) => (bottom === 0 ? null : top / bottom);

  const fBeta = (tp, nRef, nSys, beta) => ratio((1 + beta * beta) * tp, beta * beta * nRef + nSys);

  const sum = (values) => values.reduce((a, b) => a + b, 0);

  /* All scores of a basis by the names that the evaluator gives them. */
  const scores = (data, basis, threshold, reference) => {
    const of = data.bases[basis][data.thresholds.indexOf(reference)], at = data.grid.indexOf(threshold), size = data.grid.length;
    const [tp, nSys] = [of.tp, of.n_sys].map((column) => data.classes.map((_, c) => column[c * size + at]));
    const nRef = Array.from(of.n_ref);
    // Intersections are not matched one to one: what is not right is a miss or a false alarm.
    const paired = basis === "intersection" ? sum(tp) : of.paired && of.paired[at];
    const all = { tp: sum(tp), n_ref: sum(nRef), n_sys: sum(nSys) };
    const found = {};
    const put = (measure, ofClasses, micro, undefinedAs = null) => {
      found[`${basis}.hard.${measure}.micro`] = micro;
      // The mean over classes with a reference.
      const known = ofClasses.filter((_, c) => nRef[c] > 0).map((value) => value ?? undefinedAs).filter((value) => value !== null);
      found[`${basis}.hard.${measure}.macro`] = ratio(sum(known), known.length);
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
      data.classes.forEach((label, c) => { found[`${basis}.hard.${name}[${label}]`] = of[c]; });
    }
    return found;
  };

  return { scores, bases: (data) => Object.keys(data.bases) };
})();
