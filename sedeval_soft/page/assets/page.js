"use strict";
/* What all sections of the page use: the data, its arrays, colours, and figures that follow the theme. */
const SED = (() => {
  const sections = [];
  const kinds = { f8: Float64Array, f4: Float32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array };
  let data = null;
  let shown = 0;

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

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /* A plotly figure in the page's colours; traces are asked for anew when the theme changes. */
  const figures = new Map();
  const draw = (target, figure) => {
    figures.set(target, figure);
    const { traces, layout = {} } = figure();
    const axis = { gridcolor: colour("line"), zerolinecolor: colour("line"), linecolor: colour("line") };
    const all = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 56, r: 16, t: 16, b: 48 },
      font: { color: colour("ink"), family: "system-ui, sans-serif", size: 13 },
      hoverlabel: { namelength: -1 }, ...layout };
    for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) all[name] = { ...axis, ...layout[name] };
    for (const name of ["xaxis", "yaxis"]) if (!(name in layout)) all[name] = axis;
    return Plotly.react(target, traces, all, { responsive: true, displaylogo: false });
  };
  const redraw = () => figures.forEach((figure, target) => draw(target, figure));

  /* Names are text, but plotly reads some markup in them. */
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const unpacked = async () => {
    const bytes = Uint8Array.from(atob(element("packed").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  };

  const revive = (value, buffer) => {
    if (Array.isArray(value)) return value.map((item) => revive(item, buffer));
    if (value === null || typeof value !== "object") return value;
    if ("$" in value) return new kinds[value.$](buffer, value.at, value.n);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item, buffer)]));
  };

  const show = (index) => {
    shown = index;
    for (const each of sections) each.show(data.systems[index], data);
  };

  const start = async () => {
    const { systems, document: results } = JSON.parse(element("data").textContent);
    data = { systems: revive(systems, await unpacked()), document: results };
    show(0);
    document.documentElement.dataset.ready = "true";
  };

  document.addEventListener("DOMContentLoaded", () => start());
  return { section, element, make, colour, draw, redraw, plain, show };
})();
