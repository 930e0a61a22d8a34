"use strict";
// Draws the charts. The root element says how far it got: data-charts="drawn/all", data-fault.
(() => {
  const root = document.documentElement;
  const fault = (message) => { root.dataset.fault = `${root.dataset.fault ?? ""}${message}\n`; };
  addEventListener("error", (event) => fault(event.message));
  addEventListener("unhandledrejection", (event) => fault(String(event.reason)));
  document.addEventListener("securitypolicyviolation", (event) => fault(`${event.violatedDirective} ${event.blockedURI}`));

  const charts = [...document.querySelectorAll("[data-chart]")];
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12 };
  const axis = { automargin: true, ticks: "", showline: false, zeroline: false };
  const title = { standoff: 8, font: { size: 12 } };
  const config = { displaylogo: false, responsive: true, displayModeBar: true,
                   modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] };
  const narrow = 560;

  // The library and the charts are in the page, compressed.
  const unpacked = (id) => {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (char) => char.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const load = async () => {
    const script = document.createElement("script");
    script.textContent = await unpacked("library");
    document.head.append(script);
    return JSON.parse(await unpacked("figures"));
  };

  const withDefaults = (layout, width) => {
    const full = { margin: { l: 56, r: 12, t: 34, b: 46 }, paper_bgcolor: "transparent", plot_bgcolor: "transparent",
                   font, hoverlabel: { font, align: "left" },
                   modebar: { bgcolor: "transparent", color: "#8b929c", activecolor: "#3b86c6" }, ...layout };
    if (width < narrow) {
      full.margin = { ...full.margin, l: 8, r: 4 };
      full.font = { ...font, size: 11 };
    }
    for (const key of Object.keys(full).filter((name) => /^[xy]axis/.test(name))) {
      full[key] = { ...axis, ...full[key], title: { ...title, ...full[key].title } };
    }
    return full;
  };

  const draw = (figures) => {
    let drawn = 0;
    const progress = () => { root.dataset.charts = `${drawn}/${charts.length}`; };
    progress();
    for (const chart of charts) {
      const { data, layout } = figures[chart.dataset.chart];
      Plotly.newPlot(chart, data, withDefaults(layout, chart.clientWidth), config).then(() => { drawn += 1; progress(); });
    }

    // Charts cannot be asked for their size on paper: they get one that A4 and Letter hold.
    const details = document.querySelectorAll("details");
    const heights = charts.map((chart) => figures[chart.dataset.chart].layout.height);
    const fit = (chart, size) => { chart.style.height = `${size.height}px`; Plotly.relayout(chart, size); };
    addEventListener("beforeprint", () => {
      details.forEach((one) => { one.open = true; });
      charts.forEach((chart, index) => {
        const half = chart.closest(".halves");
        const highest = half ? 300 : chart.dataset.chart === "time" ? 780 : chart.dataset.chart === "views" ? 560 : 380;
        fit(chart, { width: half ? 335 : 690, height: Math.min(heights[index], highest) });
      });
    });
    addEventListener("afterprint", () => {
      charts.forEach((chart, index) => fit(chart, { width: null, height: heights[index], autosize: true }));
    });
  };

  if (globalThis.DecompressionStream) {
    load().then(draw);
  } else {
    const told = "This chart needs a newer browser: Chrome 80, Firefox 113, Safari 16.4 or later.";
    charts.forEach((chart) => { chart.style.height = "auto"; chart.textContent = told; });
  }
})();
