// A field above each long table: only the rows that contain all of its words are shown.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 40) continue;
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = `Filter ${rows.length} rows`;
    field.setAttribute("aria-label", field.placeholder);
    field.className = "filter";
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    table.before(field);
  }
});

// Copying a session copies its commands, without prompts and without what they print.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("[data-clipboard-target]");
    const code = button && document.querySelector(button.dataset.clipboardTarget);
    if (!code?.closest(".language-console")) return;
    const lines = code.textContent.split("\n").filter((line) => /^[$>] /.test(line));
    button.dataset.clipboardText = lines.map((line) => line.slice(2)).join("\n");
  },
  true,
);
