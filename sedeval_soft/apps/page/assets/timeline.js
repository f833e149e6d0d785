/* Files over time: values as strips, what is active as bars over them, coloured by what became of it. */
SED.section("timeline", (() => {
  const { element, make, colour, plain, sound } = SED;
  const of = (name) => element(`timeline-${name}`);
  const BAND = 60, TITLE = 18, STRIP = 17, BAR = 9, TOP = 4, RIGHT = 14, BOTTOM = 44, MOST_STEPS = 1200, MOST_CLASSES = 40, MOST_ROWS = 1000, MOST_BARS = 3000;
  const SIDES = ["reference", "system"];
  const OUTCOMES = {
    hit: { many: "hits", one: "hit" },
    miss: { many: "misses", one: "miss" },
    "false-alarm": { many: "false alarms", one: "false alarm" },
    active: { many: "events", one: "event" },
  };
  /* What is only active has no pattern. */
  const patternOf = (outcome) => JSON.parse(colour(`${outcome}-pattern`) || '""');
  const CODES = [null, "miss", "false-alarm", "hit"];
  const WHY = { all: "Files", asked: "Asked for", cost: "Cost most", segments: "Have segments that cost most", errors: "Have examples of errors", random: "Drawn at random" };
  const state = { found: null, file: null, view: null, range: [0, 1], mark: null, about: null, listening: false };

  const seconds = (value) => `${Number(value.toFixed(3))} s`;
  const value = (number) => String(Number(number.toFixed(4)));
  const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const narrow = () => of("figure").clientWidth < 600;
  const left = () => (narrow() ? 30 : 72);

  /* What is drawn as bars: { side, label, onset, offset, outcome, count, partner }. */
  const events = (file, coloured) => SIDES.flatMap((side) => {
    const own = file.events[side], other = file.events[side === "reference" ? "system" : "reference"];
    return Array.from(own.label, (label, i) => {
      const j = own.partner[i] - 1;
      const alone = side === "reference" ? "miss" : "false-alarm";
      return {
        side, label, onset: own.onset[i] / 1e6, offset: own.offset[i] / 1e6, count: 1,
        outcome: coloured ? (j >= 0 ? "hit" : alone) : "active",
        partner: coloured && j >= 0 ? [other.onset[j] / 1e6, other.offset[j] / 1e6] : null,
      };
    });
  });
  const segments = (file, length) => Array.from(file.segments.label, (label, i) => {
    const { first, count, outcome } = file.segments;
    const onset = first[i] * length, offset = Math.max(Math.min((first[i] + count[i]) * length, file.length), onset);
    return { side: null, label, onset, offset, count: count[i], outcome: CODES[outcome[i]], partner: null };
  });
  const marks = () => (state.view === "segment" ? segments(state.file, state.found.segment) : events(state.file, state.view === "event"));
  /* Where a mark is drawn: a hit of segments on both sides. */
  const sides = (mark) => (mark.side ? [mark.side] : mark.outcome === "miss" ? ["reference"] : mark.outcome === "hit" ? SIDES : ["system"]);

  const counts = (shown) => {
    const found = {};
    const kinds = state.view ? ["hit", "miss", "false-alarm"] : ["active"];
    for (const kind of kinds) found[kind] = 0;
    // Of a pair of events, which is one hit, each side has one.
    for (const mark of shown) if (mark.outcome !== "hit" || mark.side !== "system") found[mark.outcome] += mark.count;
    return found;
  };

  const classes = (shown) => {
    const active = new Set(shown.map((mark) => mark.label));
    // A link may be about a class that is nowhere active.
    if (state.about !== null) active.add(state.about);
    const all = of("all").checked;
    const found = state.found.classes.map((_, label) => label).filter((label) => all || active.has(label));
    const first = found.length > MOST_CLASSES ? state.about : null;
    return first === null ? found : [first, ...found.filter((label) => label !== first)];
  };

  /* The pieces of a strip within a time, as edges and values; where there are too many, the highest of some. */
  const pieces = (strip, label, length, [begin, end]) => {
    const place = strip.label.indexOf(label);
    if (place < 0) return { edges: [0, length], values: [0] };
    let edges = [], values = [], time = 0;
    for (let i = strip.first[place]; i < strip.first[place + 1]; i++) {
      const until = time + strip.width[i];
      if (until / 1e6 >= begin && time / 1e6 <= end) {
        if (!edges.length) edges.push(time / 1e6);
        edges.push(until / 1e6);
        values.push(strip.value[i] / 60000);
      }
      time = until;
    }
    if (values.length <= MOST_STEPS) return { edges, values };
    const step = (edges.at(-1) - edges[0]) / MOST_STEPS, highest = new Array(MOST_STEPS).fill(0);
    values.forEach((height, i) => {
      const last = Math.min(Math.ceil((edges[i + 1] - edges[0]) / step), MOST_STEPS);
      for (let k = Math.floor((edges[i] - edges[0]) / step); k < last; k++) highest[k] = Math.max(highest[k], height);
    });
    return { edges: highest.map((_, k) => edges[0] + k * step).concat(edges.at(-1)), values: highest };
  };

  /* The middle of a strip: classes stand from top to bottom, of each its name, the reference, the system. */
  const middle = (row, rows, side) => rows - row - (TITLE + STRIP / 2 + (side === "system" ? STRIP + 2 : 0)) / BAND;

  const strips = (labels, window) => {
    const { found, file } = state;
    return labels.flatMap((label, row) => SIDES.map((side) => {
      const { edges, values } = pieces(file.strips[side], label, file.length, window);
      const at = middle(row, labels.length, side), name = plain(short(found.classes[label], 60));
      const text = values.map((height, i) => `${name}<br>${side} ${value(height)}<br>${seconds(edges[i])} to ${seconds(edges[i + 1])}`);
      return {
        type: "heatmap", x: edges, y: [at - STRIP / 2 / BAND, at + STRIP / 2 / BAND], z: [values], text: [text], hoverinfo: "text",
        zmin: 0, zmax: 1, colorscale: [[0, colour("cold")], [1, colour("heat")]], showscale: false, zsmooth: false,
      };
    }));
  };

  const said = (mark, side) => {
    if (mark.joined > 1) {
      return `${plain(short(state.found.classes[mark.label], 60))}<br>${mark.joined} ${state.view === "segment" ? "runs of " : ""}${OUTCOMES[mark.outcome].many}, ${side}<br>${seconds(mark.onset)} to ${seconds(mark.offset)}<br>zoom in to see each`;
    }
    const what = OUTCOMES[mark.outcome].one, name = plain(short(state.found.classes[mark.label], 60));
    const times = `${seconds(mark.onset)} to ${seconds(mark.offset)}`;
    const more = mark.partner ? `<br>matched with ${mark.partner.map(seconds).join(" to ")}` : mark.side ? "" : `<br>${mark.count} segment${mark.count === 1 ? "" : "s"}`;
    return `${name}<br>${mark.outcome === "active" ? "" : `${what}, `}${side}<br>${times}${more}`;
  };
  /* Marks of one kind that are nearer than some time are drawn as one, where there are too many to draw. */
  const joined = (marks) => {
    let found = marks;
    for (let gap = (state.range[1] - state.range[0]) / 2000; found.length > MOST_BARS; gap *= 2) {
      const last = new Map();
      found = [];
      for (const mark of marks) {
        const kind = `${mark.side} ${mark.label} ${mark.outcome}`, before = last.get(kind);
        if (before && mark.onset <= before.offset + gap) {
          before.offset = Math.max(before.offset, mark.offset);
          before.count += mark.count;
          before.joined += 1;
        } else {
          const own = { ...mark, joined: 1 };
          last.set(kind, own);
          found.push(own);
        }
      }
    }
    of("joined").hidden = found === marks;
    return found;
  };
  const bars = (shown, labels, [begin, end]) => {
    const rows = new Map(labels.map((label, row) => [label, row]));
    const near = joined(shown.filter((mark) => rows.has(mark.label) && mark.offset >= begin && mark.onset <= end));
    return [...new Set(near.map((mark) => mark.outcome))].map((outcome) => {
      const drawn = near.filter((mark) => mark.outcome === outcome).flatMap((mark) => sides(mark).map((side) => [mark, side]));
      const own = outcome === "active" ? colour("accent") : colour(outcome);
      // Hatches on paper are images: there a miss is hollow, as its box in the page is.
      const hatched = patternOf(outcome), pattern = SED.printing() ? "" : hatched;
      return {
        type: "bar", orientation: "h", name: outcome, hoverinfo: "text",
        base: drawn.map(([mark]) => mark.onset), x: drawn.map(([mark]) => mark.offset - mark.onset),
        y: drawn.map(([mark, side]) => middle(rows.get(mark.label), labels.length, side)), width: BAR / BAND,
        text: drawn.map(([mark, side]) => said(mark, side)), textposition: "none",
        customdata: drawn.map(([mark, side]) => [mark.count, side]),
        marker: {
          color: hatched === "/" && !pattern ? colour("page") : own, line: { color: own, width: 1.5 },
          pattern: { shape: pattern, fillmode: "replace", fgcolor: own, bgcolor: colour("page"), size: 6, solidity: pattern === "x" ? 0.25 : 0.4 },
        },
      };
    });
  };

  const figure = () => {
    const shown = marks(), labels = classes(shown).slice(0, MOST_CLASSES), [begin, end] = state.range, width = end - begin;
    // A little more than is seen, so that it can be moved.
    const window = [begin - width, end + width];
    setTimeout(listen, 0);
    Object.assign(of("figure").dataset, { file: state.file.name, view: state.view || "" });
    const small = narrow(), mark = state.mark, heard = state.file.sound;
    const spectrogram = heard && sound.strip(heard, window), below = spectrogram ? sound.HEIGHT + sound.GAP : 0;
    const height = labels.length * BAND + 4 + below;
    const names = labels.map((label, row) => ({
      xref: "paper", x: 0, xanchor: "left", y: labels.length - row - TITLE / 2 / BAND, yanchor: "middle", showarrow: false,
      text: `<b>${plain(short(state.found.classes[label], small ? 40 : 100))}</b>`, font: { size: 12, color: colour("ink") },
    }));
    return {
      traces: [...strips(labels, window), ...bars(shown, labels, window), ...(spectrogram ? [spectrogram] : [])],
      layout: {
        height: height + TOP + BOTTOM, barmode: "overlay", bargap: 0, showlegend: false, hovermode: "closest",
        margin: { l: left(), r: RIGHT, t: TOP, b: BOTTOM }, annotations: names,
        // Fingers scroll the page; there are buttons to move.
        dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
        shapes: mark === null ? [] : [{ type: "line", x0: mark, x1: mark, yref: "paper", y0: 0, y1: 1, line: { color: colour("ink"), width: 1.5, dash: "dot" } }],
        xaxis: { range: state.range, minallowed: 0, maxallowed: state.file.length || 1, title: { text: "seconds" }, showgrid: true, zeroline: false, automargin: false, anchor: spectrogram ? "y2" : "y" },
        ...(spectrogram ? { yaxis2: { ...sound.axis(heard, small), domain: [0, sound.HEIGHT / height] } } : {}),
        yaxis: {
          domain: [below / height, 1],
          range: [0, labels.length], fixedrange: true, showgrid: false, zeroline: false, automargin: false, ticks: "",
          tickvals: labels.flatMap((_, row) => SIDES.map((side) => middle(row, labels.length, side))),
          ticktext: labels.flatMap(() => (small ? ["ref", "sys"] : SIDES)), tickfont: { size: small ? 10 : 11, color: colour("soft-ink") },
        },
      },
    };
  };

  const listen = () => {
    const target = of("figure");
    if (state.listening || !target.on) return;
    state.listening = true;
    target.on("plotly_relayout", (change) => {
      const whole = [0, state.file.length || 1];
      const range = change["xaxis.autorange"] ? whole : "xaxis.range[0]" in change ? [change["xaxis.range[0]"], change["xaxis.range[1]"]] : change["xaxis.range"];
      if (range) look(range);
    });
    // The first of two clicks has begun to play.
    target.on("plotly_doubleclick", sound.pause);
  };

  /* The line that stands at the time which is heard, and what is clicked on: a time, or an event's begin. */
  const place = () => {
    const [begin, end] = state.range, part = (sound.at() - begin) / (end - begin), head = of("head");
    head.hidden = of("figure").hidden || !sound.playable(state.file.sound) || part < 0 || part > 1;
    head.style.left = `calc(${left()}px + ${part} * (100% - ${left() + RIGHT}px))`;
  };
  const hear = () => {
    const [begin, end] = state.range, at = sound.at();
    sound.play(at >= begin && at < Math.min(end, state.file.sound.seconds - 0.02) ? at : begin);
  };
  const toggle = () => (sound.playing() ? sound.pause() : hear());
  const moved = (before) => {
    const [begin, end] = state.range, at = sound.at();
    // What is shown goes on where what is heard leaves it.
    if (sound.playing() && before <= end && at > end && end < state.file.length) look([end, end + end - begin]);
    place();
  };
  const clicked = ({ clientX, clientY }) => {
    const box = of("figure").getBoundingClientRect(), part = (clientX - box.left - left()) / (box.width - left() - RIGHT);
    if (!sound.playable(state.file.sound) || part < 0 || part > 1) return;
    const [begin, end] = state.range, time = begin + part * (end - begin);
    const shown = marks(), labels = classes(shown).slice(0, MOST_CLASSES), row = (clientY - box.top - TOP) / (BAND + 4 / labels.length);
    const on = (mark) => labels[Math.floor(row)] === mark.label && mark.onset <= time && time <= mark.offset
      && sides(mark).some((side) => Math.abs(labels.length - row - middle(Math.floor(row), labels.length, side)) * BAND <= BAR / 2 + 1);
    const mark = shown.find(on);
    sound.play(mark ? mark.onset : time);
  };

  /* Show some time of the file, moved so that it lies within it. */
  const look = ([begin, end]) => {
    const length = state.file.length || 1;
    const width = Math.min(Math.max(end - begin, Math.min(0.05, length)), length);
    const from = Math.min(Math.max(begin, 0), length - width);
    state.range = [from, from + width];
    draw();
  };
  const moves = {
    earlier: ([a, b]) => [a - (b - a) / 4, b - (b - a) / 4],
    later: ([a, b]) => [a + (b - a) / 4, b + (b - a) / 4],
    in: ([a, b]) => [a + (b - a) / 4, b - (b - a) / 4],
    out: ([a, b]) => [a - (b - a) / 2, b + (b - a) / 2],
    whole: () => [0, state.file.length || 1],
  };
  const move = (name) => look(moves[name](state.range));
  const keys = { ArrowLeft: "earlier", ArrowRight: "later", "+": "in", "=": "in", "-": "out", Home: "whole" };

  const draw = () => {
    const shown = marks(), labels = classes(shown), target = of("figure");
    target.hidden = !labels.length;
    of("summary").replaceChildren(make("strong", {}, state.file.name), ` (${seconds(state.file.length)})`,
      ...Object.entries(counts(shown)).flatMap(([outcome, n]) => [" ", make("span", { class: "outcome", "data-outcome": outcome, "data-count": n },
        make("span", { class: "swatch", "data-pattern": patternOf(outcome), style: `--swatch: var(--${outcome === "active" ? "accent" : outcome})`, "aria-hidden": "true" }),
        `${n} ${n === 1 ? OUTCOMES[outcome].one : OUTCOMES[outcome].many}`)]));
    const { found, file } = state, notes = [];
    if (!labels.length) notes.push("No class is active in this file on either side.");
    if (labels.length > MOST_CLASSES) notes.push(`The first ${MOST_CLASSES} of ${labels.length} classes are drawn; the table has all.`);
    if (found.postprocessed) notes.push("Values of the system are shown after post-processing.");
    const step = Math.max(file.steps.reference, file.steps.system);
    if (step) notes.push(`This file has too many values for this page: they are drawn in steps of ${seconds(step)}, each with the highest value in it. Events are exact.`);
    of("notes").textContent = notes.join(" ");
    if (labels.length) SED.draw(target, figure);
    place();
    if (of("details").open) fill(shown);
  };

  const fill = (shown = marks()) => {
    const { found } = state, bySegment = state.view === "segment";
    const ordered = [...shown].sort((a, b) => a.onset - b.onset || a.label - b.label);
    const head = ["class", "onset", "offset", ...(bySegment ? ["segments"] : ["side"]), ...(state.view ? ["outcome"] : []), ...(state.view === "event" ? ["matched with"] : [])];
    const cells = (mark) => [
      value(mark.onset), value(mark.offset), bySegment ? mark.count : mark.side, ...(state.view ? [OUTCOMES[mark.outcome].one] : []),
      ...(state.view === "event" ? [mark.partner ? mark.partner.map(value).join(" to ") : ""] : []),
    ];
    const more = ordered.length > MOST_ROWS ? `, the first ${MOST_ROWS} of ${ordered.length}` : "";
    const table = of("table").querySelector("table");
    table.caption.textContent = `${bySegment ? "Segments" : "Events"} of ${state.file.name}${more}; times in seconds`;
    SED.fill(table, head, ordered.slice(0, MOST_ROWS).map((mark) => [found.classes[mark.label], ...cells(mark)]));
  };

  /* Which files can be chosen, by what is looked for. */
  const matching = () => {
    const wanted = of("find").value.trim().toLowerCase();
    return state.found.files.filter((file) => file.name.toLowerCase().includes(wanted));
  };
  const list = () => {
    const files = matching(), chosen = files.includes(state.file) || !files.length ? state.file : files[0];
    const groups = [...new Set(files.map((file) => file.why))];
    const option = (file) => make("option", { value: state.found.files.indexOf(file), selected: file === chosen }, short(file.name, 80));
    of("file").replaceChildren(...groups.flatMap((why) => {
      const own = files.filter((file) => file.why === why).map(option);
      return groups.length === 1 ? own : [make("optgroup", { label: WHY[why] }, ...own)];
    }));
    of("file").disabled = !files.length;
    for (const name of ["previous", "next"]) of(name).disabled = files.length < 2;
    if (chosen !== state.file) open(chosen);
  };
  const open = (file, range = null, mark = null, about = null) => {
    Object.assign(state, { file, mark, about, range: [0, file.length || 1] });
    of("file").value = String(state.found.files.indexOf(file));
    of("missing").hidden = true;
    listening(file);
    sound.choose(file.sound, mark ?? 0, moved);
    if (range) look(range); else draw();
  };
  const listening = (file) => {
    const heard = file.sound, short = heard && heard.seconds < file.length - 0.1;
    of("sound").textContent = !heard ? "There is no sound of this recording."
      : `Below the classes is a mel spectrogram, up to ${heard.top / 1000} kHz: the stronger the shade, the louder.${short ? ` The sound ends at ${seconds(heard.seconds)}.` : ""}${sound.playable(heard) ? "" : " It is not played; the warnings of this page say why."}`;
    of("hearing").hidden = !sound.playable(heard);
    of("figure").setAttribute("aria-label", `Reference and system over time${heard ? ", and a mel spectrogram of the recording" : ""}`);
  };
  const step = (by) => {
    const files = matching();
    open(files[(files.indexOf(state.file) + by + files.length) % files.length]);
  };

  /* `#timeline=FILE`, `#timeline=FILE@ONSET` and `#timeline=FILE@ONSET@CLASS` open a file, around that second. */
  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const follow = () => {
    if (!location.hash.startsWith("#timeline=") || !state.found) return;
    const [name, second, label] = location.hash.slice("#timeline=".length).split("@").map(decoded);
    const file = state.found.files.find((each) => each.name === name), onset = second ? Number(second) : NaN;
    if (file) {
      of("find").value = "";
      list();
      const around = Math.max(10 * state.found.segment, 10), about = state.found.classes.indexOf(label);
      if (onset >= 0 && onset <= file.length) open(file, [onset - around, onset + around], onset, about < 0 ? null : about); else open(file);
    } else {
      of("missing").replaceChildren("This page does not have ", make("strong", {}, name), " over time. It does when it is made with ", make("code", {}, `--timeline ${quoted(name)}`), ".");
      of("missing").hidden = false;
    }
    of("title").focus();
    element("timeline").scrollIntoView();
  };
  const quoted = (name) => (/^[\w./:-]+$/.test(name) ? name : `'${name.replace(/'/g, "'\\''")}'`);

  const begin = () => {
    of("file").addEventListener("change", () => open(state.found.files[Number(of("file").value)]));
    of("find").addEventListener("input", list);
    of("previous").addEventListener("click", () => step(-1));
    of("next").addEventListener("click", () => step(1));
    of("view").addEventListener("change", () => { state.view = of("view").value; draw(); });
    of("all").addEventListener("change", draw);
    of("details").addEventListener("toggle", () => of("details").open && fill());
    for (const button of document.querySelectorAll("#timeline [data-move]")) button.addEventListener("click", () => move(button.dataset.move));
    of("play").addEventListener("click", toggle);
    // Where a pointer goes down and up, not where it moves between: that zooms, or scrolls.
    let down = null;
    of("figure").addEventListener("pointerdown", (event) => { down = event.isPrimary && event.button === 0 ? event : null; }, true);
    addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 5) clicked(event);
      down = null;
    }, true);
    addEventListener("pointercancel", () => { down = null; }, true);
    of("figure").addEventListener("keydown", (event) => {
      if (event.key === " " && sound.playable(state.file.sound)) {
        event.preventDefault();
        toggle();
      }
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move(keys[event.key]);
    });
    addEventListener("hashchange", follow);
  };

  return {
    show(system, data) {
      const found = system.timelines, first = !state.found, name = state.file && state.file.name;
      if (first) begin();
      Object.assign(state, { found, file: found.files.find((file) => file.name === name) || found.files[0] || null });
      if (!found.views.includes(state.view)) state.view = found.views[0] || null;
      of("said").textContent = found.said;
      of("view").replaceChildren(...found.views.map((view) => make("option", { value: view, selected: view === state.view }, `${view}s`)));
      of("view-label").hidden = found.views.length < 2;
      of("find-label").hidden = found.files.length <= 12;
      for (const part of ["controls", "figure", "keys", "details"]) of(part).hidden = !state.file;
      of("sound").hidden = !data.audio || !state.file;
      if (!state.file) return;
      of("find").value = "";
      list();
      open(state.file);
      if (first) follow();
    },
  };
})());
