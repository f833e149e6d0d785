"use strict";
/* Sorting and filtering; without it the table is as it stands, by rank. */
(() => {
  document.documentElement.dataset.ready = "true";
  const table = document.getElementById("board");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];

  /* The cell of a row below a heading, of which some are over two columns. */
  const column = (head) => {
    let at = 0;
    for (const each of heads) {
      if (each === head) return at;
      at += each.colSpan;
    }
    return at;
  };

  const order = (head, descending) => {
    const at = column(head);
    const numeric = head.dataset.sort === "number";
    const keyed = rows.map((row, place) => {
      const text = row.cells[at].dataset.value ?? "";
      return { row, place, none: text === "", key: numeric ? Number(text) : text.toLocaleLowerCase("en") };
    });
    const compare = (a, b) => (numeric ? a.key - b.key : a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
    /* What is undefined comes last, whichever way; of equal ones that of the better rank comes first. */
    keyed.sort((a, b) => a.none - b.none || (a.none ? 0 : (descending ? -1 : 1) * compare(a, b)) || a.place - b.place);
    body.append(...keyed.map((each) => each.row));
  };

  for (const head of heads) {
    if (!head.dataset.sort) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const first = head.dataset.first ?? "ascending";
      const next = now === null ? first : now === "ascending" ? "descending" : "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", next);
      order(head, next === "descending");
    });
  }

  const input = document.getElementById("filter");
  const count = document.getElementById("count");
  const texts = new Map(rows.map((row) => [row, row.cells[1].textContent.toLocaleLowerCase("en")]));
  input.addEventListener("input", () => {
    const words = input.value.toLocaleLowerCase("en").split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => texts.get(row).includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} shown` : "";
  });
  input.closest("p").hidden = false;

  const warnings = document.getElementById("warnings");
  for (const link of document.querySelectorAll(".b-warned")) link.addEventListener("click", () => { warnings.open = true; });
})();
