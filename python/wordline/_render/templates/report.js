"use strict";
// Draws the charts, those of folded sections when they are opened, and marks tables that scroll.
// The root element reports progress: data-charts="drawn/all", data-fault.
(() => {
  const root = document.documentElement;
  const fault = (message) => { root.dataset.fault = `${root.dataset.fault ?? ""}${message}\n`; };
  addEventListener("error", (event) => fault(event.message));
  addEventListener("unhandledrejection", (event) => fault(String(event.reason)));
  document.addEventListener("securitypolicyviolation", (event) => fault(`${event.violatedDirective} ${event.blockedURI}`));

  const charts = [...document.querySelectorAll("[data-chart]")];
  const folds = [...document.querySelectorAll("details")];
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
    const chosen = new Map();
    const drawn = new Set();
    const told = () => { root.dataset.charts = `${drawn.size}/${charts.length}`; };
    const figure = (chart) => {
      const whole = figures[chart.dataset.chart];
      return whole.choices ? whole.choices[chosen.get(chart) ?? 0] : whole;
    };
    const plot = (chart) => {
      const { data, layout } = figure(chart);
      return Plotly.react(chart, data, withDefaults(layout, chart.clientWidth), config)
        .then(() => { drawn.add(chart); told(); });
    };
    const folded = (chart) => chart.closest("details:not([open])");
    const started = new Set();
    const plotOpen = () => {
      for (const chart of charts.filter((one) => !folded(one) && !started.has(one))) {
        started.add(chart);
        plot(chart);
      }
    };
    // A drop-down list of the figures of a chart, usable by mouse, keyboard and screen reader.
    for (const chart of charts) {
      const { choices, of } = figures[chart.dataset.chart];
      if ((choices?.length ?? 0) < 2) continue;
      const label = document.createElement("label");
      const list = document.createElement("select");
      list.append(...choices.map(({ name }, place) => new Option(name, place)));
      list.addEventListener("change", () => { chosen.set(chart, Number(list.value)); plot(chart); });
      label.className = "chosen";
      label.append(`${of} `, list);
      chart.before(label);
    }
    told();
    plotOpen();
    folds.forEach((one) => one.addEventListener("toggle", plotOpen));

    // Charts cannot measure themselves on paper, so they get a size that fits A4 and Letter.
    const heights = new Map(charts.map((chart) => [chart, figures[chart.dataset.chart].layout.height]));
    const fit = (chart, size) => { chart.style.height = `${size.height}px`; Plotly.relayout(chart, size); };
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = folds.filter((one) => !one.open);
      closed.forEach((one) => { one.open = true; });
      plotOpen();
      charts.forEach((chart) => {
        const half = chart.closest(".halves");
        const highest = half ? 300 : chart.dataset.chart === "time" ? 780 : chart.dataset.chart === "views" ? 560 : 380;
        fit(chart, { width: half ? 335 : 690, height: Math.min(heights.get(chart), highest) });
      });
    });
    addEventListener("afterprint", () => {
      charts.forEach((chart) => fit(chart, { width: null, height: heights.get(chart), autosize: true }));
      closed.forEach((one) => { one.open = false; });
    });
  };

  // Unfolds the section that the URL fragment names.
  const reveal = () => {
    const found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = found && (found.closest("details") ?? found.querySelector("details"));
    if (fold && !fold.open) { fold.open = true; found.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // A table that is wider than the page is marked, and can be scrolled with the keyboard.
  // The mark changes the size of the table, which must not be observed in the same frame.
  const scrolls = new ResizeObserver((entries) => requestAnimationFrame(() => {
    for (const { target } of entries) {
      const place = target.closest(".scroll");
      const wide = place.scrollWidth > place.clientWidth + 1;
      place.classList.toggle("wide", wide);
      if (wide) place.tabIndex = 0; else place.removeAttribute("tabindex");
      place.role = wide ? "group" : null;
      place.ariaLabel = wide ? "Table that scrolls sideways" : null;
    }
  }));
  document.querySelectorAll(".scroll, .scroll > table").forEach((one) => scrolls.observe(one));

  if (globalThis.DecompressionStream) {
    load().then(draw);
  } else {
    const told = "This chart needs a newer browser: Chrome 80, Firefox 113, Safari 16.4 or later.";
    charts.forEach((chart) => { chart.style.height = "auto"; chart.textContent = told; });
  }
})();
