"use strict";
// Draws every chart of the page with the page's own colours, again when the reader switches between light and dark.
(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const config = () => ({
    background: null,
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: {
      labelColor: colour("soft"), titleColor: colour("soft"), gridColor: colour("grid"), domainColor: colour("line"),
      tickColor: colour("line"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
    },
    legend: { labelColor: colour("ink"), titleColor: colour("soft"), labelFontSize: 12, labelLimit: 400, orient: "top", gradientLength: 150 },
    text: { color: colour("ink") },
    rule: { color: colour("ink") },
    range: { category: Array.from({ length: 12 }, (_, place) => colour(`series-${place + 1}`)) },
  });
  const draw = () => {
    const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : undefined;
    for (const place of document.querySelectorAll(".chart")) {
      const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
      const options = { actions: false, renderer: "svg", ast: true, config: config(), tooltip: { theme } };
      vegaEmbed(place, spec, options)
        .then(() => { place.dataset.drawn = "true"; })
        .catch((error) => { place.textContent = `The chart could not be drawn: ${error.message}`; });
    }
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
