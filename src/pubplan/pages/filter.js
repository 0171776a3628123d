"use strict";
// Narrows long tables down to the rows that have what the reader types.
(() => {
  for (const field of document.querySelectorAll(".filter")) {
    const rows = [...field.parentElement.querySelectorAll("tbody tr")];
    const input = field.querySelector("input");
    const status = field.querySelector("span");
    const narrow = () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      const shown = rows.filter((row) => !row.hidden).length;
      status.textContent = wanted ? `${shown} of ${rows.length} rows` : "";
    };
    input.addEventListener("input", narrow);
    field.hidden = false;
  }
})();
