"use strict";
/* What all sections of the page use: the data, its arrays, colours, tables, and figures that follow the theme. */
const SED = (() => {
  const sections = [];
  const kinds = { f8: Float64Array, f4: Float32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array };
  let data = null;

  /* A section has show(system, data): it draws a system, and is called again when another is chosen. */
  const section = (name, of) => sections.push({ name, ...of });

  const element = (id) => document.getElementById(id);

  /* Make an element with attributes and children; texts become text, never markup. */
  const make = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  };

  /* A count as it is if it is whole, else with two decimals, or two digits where it is tiny. */
  const count = (value) => {
    const tiny = Math.abs(value) < 0.095 && Math.abs(value) > 1e-9;
    return tiny ? String(Number(value.toPrecision(2))) : value.toFixed(2).replace(/\.00$/, "").replace(/^-0$/, "0");
  };

  /* A number as the tables have it: counts as such, others with three decimals. What is counted is told by the measure. */
  const counted = /^(n_ref|n_sys|tp|fp|fn|tn|substitutions|deletions|insertions)$/;
  const number = (value, measure = "") => {
    if (value === null || value === undefined || Number.isNaN(value)) return "-";
    if (counted.test(measure)) return count(value);
    return Math.abs(value) >= 1e9 ? value.toExponential(3) : value.toFixed(3).replace(/^-(0\.0+)$/, "$1");
  };

  /* Fill a select; what is chosen stays if it is still there. Entries: [value, text]. */
  const options = (select, entries) => {
    const before = select.value;
    select.replaceChildren(...entries.map(([value, text]) => make("option", { value }, text)));
    if (entries.some(([value]) => String(value) === before)) select.value = before;
    select.disabled = entries.length < 2;
  };

  /* A table whose columns sort. columns: { name, key, group (what stands above neighbours), measure, bar (one from 0
     to 1 beside the digits), text }; rows: objects, whose `note` stands behind their name. first: the key of the column
     that it is sorted by, lowest first, until another is chosen. The order that was chosen is kept. Where there are more
     than `most` rows, the caption says how many are left out, and a button shows them. */
  const sortable = (table, most = 20) => {
    let columns = [], rows = [], by = null, upwards = true, chosen = false, all = false;
    const more = make("button", { type: "button", onclick: () => { all = true; body(); } });
    table.after(make("p", { class: "more" }, more));
    const value = (row, column) => row[column.key];
    const ordered = () => {
      if (!by) return rows;
      const known = rows.filter((row) => value(row, by) !== null && value(row, by) !== undefined);
      const sign = upwards ? 1 : -1;
      known.sort((a, b) => sign * (by.text ? String(value(a, by)).localeCompare(String(value(b, by))) : value(a, by) - value(b, by)));
      return [...known, ...rows.filter((row) => !known.includes(row))];
    };
    const cell = (row, column) => {
      if (column.text) {
        const name = String(value(row, column));
        return make("th", { scope: "row", title: name }, make("span", { class: "cut" }, name), ...(row.note ? [make("span", { class: "remark" }, ` ${row.note}`)] : []));
      }
      const found = value(row, column), measure = row.measure || column.measure || column.key;
      const made = make("td", { "data-score": row.names && row.names[column.key], "data-value": found ?? "" });
      made.append(make("span", {}, number(found, measure)));
      if (column.bar) {
        const part = Math.min(Math.max(found || 0, 0), 1);
        made.append(make("span", { class: "bar", style: `--part: ${part}`, "aria-hidden": "true" }));
      }
      const ends = row.ends && row.ends[column.key];
      if (ends) made.append(make("span", { class: "interval" }, `${number(ends[0], measure)} to ${number(ends[1], measure)}`));
      return made;
    };
    const body = () => {
      const cut = !all && rows.length > most;
      table.tBodies[0].replaceChildren(...(cut ? ordered().slice(0, most) : ordered()).map((row) => make("tr", {}, ...columns.map((column) => cell(row, column)))));
      more.hidden = !cut;
      more.textContent = `Show all ${rows.length} rows: ${rows.length - most} are not shown`;
    };
    const groups = () => {
      if (!columns.some((column) => column.group)) return [];
      const cells = [];
      for (const { group = "" } of columns) {
        const last = cells.at(-1);
        if (last && last.group === group) last.span += 1; else cells.push({ group, span: 1 });
      }
      return [make("tr", {}, ...cells.map(({ group, span }) => (group ? make("th", { scope: "colgroup", colspan: span }, group) : make("td", { colspan: span }))))];
    };
    const head = () => table.tHead.replaceChildren(...groups(), make("tr", {}, ...columns.map((column) => {
      const sorted = by && by.key === column.key;
      const sort = () => {
        upwards = sorted ? !upwards : Boolean(column.text);
        by = column; chosen = true;
        head(); body();
        [...table.tHead.querySelectorAll("button")].find((button) => button.dataset.key === column.key).focus();
      };
      const mark = sorted ? (upwards ? " ▲" : " ▼") : "";
      return make("th", { scope: "col", class: column.text || column.bar ? "name" : null, "aria-sort": sorted ? (upwards ? "ascending" : "descending") : null },
        make("button", { type: "button", "data-key": column.key, title: column.title, onclick: sort }, column.name, make("span", { "aria-hidden": "true" }, mark)));
    })));
    return (newColumns, newRows, first = null) => {
      columns = newColumns; rows = newRows;
      const named = (key) => columns.find((column) => column.key === key) || null;
      by = by && chosen ? named(by.key) : null;
      if (!by) { by = named(first); upwards = true; chosen = false; }
      head(); body();
    };
  };

  /* Fill a table that does not sort: rows of texts, the first of each its name. */
  const fill = (table, head, rows) => {
    table.tHead.replaceChildren(make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, name))));
    table.tBodies[0].replaceChildren(...rows.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((each) => make("td", {}, String(each))))));
  };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /* Figures are drawn when they come near to what is seen, and anew when the theme changes. */
  const figures = new Map();
  let plotly = null, printing = false;
  /* Paper is narrower than most windows: a figure as wide as these would be cut. In pixels, for A4 and Letter. */
  const PAPER = 680;
  /* Where there is no hovering the buttons above a figure would always be there, and cover it. */
  const small = () => innerWidth < 640 || matchMedia("(pointer: coarse), (hover: none)").matches;
  const paint = async (target) => {
    await plotly;
    if (printing) target.style.width = `${PAPER}px`;
    const { traces, layout = {} } = figures.get(target).of(target);
    figures.get(target).drawn = true;
    const axis = { gridcolor: colour("line"), zerolinecolor: colour("line"), linecolor: colour("line"), automargin: true };
    const all = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 48, r: 12, t: 12, b: 44 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("soft-ink"), activecolor: colour("ink") },
      font: { color: colour("ink"), family: "system-ui, sans-serif", size: 13 }, hoverlabel: { namelength: -1 }, legend: { orientation: "h", y: 1.02, yanchor: "bottom" }, autosize: true, ...layout, ...(printing ? { width: PAPER } : {}) };
    for (const name of new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis/.test(key))])) {
      all[name] = { ...axis, ...layout[name] };
    }
    return Plotly.react(target, traces, all, { responsive: true, displaylogo: false, ...(small() ? { displayModeBar: false } : {}) });
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) { watcher.unobserve(target); paint(target); }
    }
  }, { rootMargin: "400px" });
  /* A section that has nothing of a system is not there. */
  const present = (id, has) => {
    element(id).hidden = !has;
    for (const link of document.querySelectorAll(`nav a[href="#${id}"]`)) link.parentElement.hidden = !has;
  };

  const draw = (target, of) => {
    const before = figures.get(target);
    figures.set(target, { of, drawn: before?.drawn });
    if (before?.drawn) paint(target); else watcher.observe(target);
  };
  const redraw = () => figures.forEach(({ drawn }, target) => drawn && paint(target));

  /* Names are text, but plotly reads some markup in them. */
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const unpacked = (id) => {
    const bytes = Uint8Array.from(atob(element(id).textContent), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
  };

  const revive = (value, buffer) => {
    if (Array.isArray(value)) return value.map((item) => revive(item, buffer));
    if (value === null || typeof value !== "object") return value;
    if ("$" in value) {
      const stored = new kinds[value.$](buffer, value.at, value.n);
      if (!value.steps) return stored;
      let sum = 0;
      return Int32Array.from(stored, (n) => (sum += n % 2 ? -(n + 1) / 2 : n / 2));
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item, buffer)]));
  };

  const show = (index) => {
    for (const own of document.querySelectorAll(".of-system")) own.hidden = own.dataset.system !== String(index);
    for (const each of sections) each.show(data.systems[index], data, index);
  };

  const themed = () => {
    const select = element("theme");
    select.addEventListener("change", () => {
      if (select.value === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = select.value;
      redraw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    /* On paper everything is drawn, in the colours of the light page. */
    let theme = null;
    addEventListener("beforeprint", () => {
      if (!printing) theme = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
      printing = true;
      // With the signature anybody gets the same numbers.
      element("settings").firstElementChild.open = true;
      figures.forEach((_, target) => target.offsetParent && paint(target));
    });
    addEventListener("afterprint", () => {
      if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
      printing = false;
      figures.forEach(({ drawn }, target) => { target.style.width = ""; if (drawn) paint(target); });
    });
  };

  const drawing = async () => {
    if (element("plotly")) document.head.append(make("script", {}, await unpacked("plotly").text()));
    if (typeof Plotly === "undefined") trouble("what draws them is not there");
  };

  const trouble = (why) => {
    element("trouble").textContent = `The figures of this page could not be drawn: ${why}. Its tables are complete. Browsers of 2023 and later can.`;
    element("trouble").hidden = false;
  };

  /* A link to a section that is folded opens it. */
  const unfold = () => {
    const folded = /^#[\w-]+$/.test(location.hash) && document.querySelector(`${location.hash} > details`);
    if (folded) folded.open = true;
  };

  const start = async () => {
    const [text, buffer] = await Promise.all([unpacked("data").text(), unpacked("packed").arrayBuffer()]);
    const found = JSON.parse(text);
    data = { systems: revive(found.systems, buffer), document: found.document, labels: found.labels, audio: found.audio };
    themed();
    addEventListener("hashchange", unfold);
    unfold();
    const select = element("system");
    if (select) select.addEventListener("change", () => show(Number(select.value)));
    // Tables and sliders work before what draws figures is there.
    plotly = new Promise((done) => requestAnimationFrame(() => setTimeout(done))).then(drawing);
    show(0);
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  };

  document.addEventListener("DOMContentLoaded", () => start().catch((error) => {
    trouble(error.message);
    throw error;
  }));
  return { section, element, make, options, sortable, fill, colour, printing: () => printing, draw, plain, present };
})();
