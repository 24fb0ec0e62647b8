// Draws the page's pictures: late, in the reader's colours, and all of them for the printer.
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const themes = JSON.parse(byId("themes").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 40rem)");
  const coarse = matchMedia("(pointer: coarse)");
  const config = { displayModeBar: false, responsive: true, showTips: false };
  const plots = [...document.querySelectorAll(".plot")];
  const drawn = new Set();
  let printing = false;

  // Colours are named "$ink" in the figures; only keys that end in "color" are looked at, never a label.
  const coloured = (value, colours, key = "") => {
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map((one) => coloured(one, colours, key));
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, coloured(one, colours, name)]));
    }
    const isToken = typeof value === "string" && value.startsWith("$") && key.toLowerCase().endsWith("color");
    return isToken ? colours[value.slice(1)] ?? value : value;
  };

  const hiddenMarks = (plot) => {
    const buttons = plot.closest(".scenario")?.querySelectorAll(".chips button[aria-pressed=false]") ?? [];
    return new Set([...buttons].map((button) => button.dataset.mark));
  };

  const draw = (plot) => {
    const { data, layout } = JSON.parse(byId(plot.dataset.figure).textContent);
    const hidden = hiddenMarks(plot);
    const colours = themes[dark.matches && !printing ? "dark" : "light"];
    const traces = plot.closest(".panels") ? data : data.filter((trace) => !hidden.has(trace.meta));
    // Names beside the points need room; a narrow page has a key below the picture instead.
    if (narrow.matches && !printing && plot.closest(".hero")) {
      layout.annotations = layout.annotations.filter((one) => one.name !== "name");
    }
    if (coarse.matches) layout.dragmode = false; // so that a finger scrolls the page
    drawn.add(plot);
    return Plotly.react(plot, coloured(traces, colours), coloured(layout, colours), config);
  };

  const visible = (plot) => plot.offsetParent !== null;
  const redraw = (among = drawn) => [...among].filter((plot) => drawn.has(plot) && visible(plot)).forEach(draw);

  const soon = new IntersectionObserver(
    (entries) => entries.forEach((entry) => {
      if (!entry.isIntersecting) return;
      soon.unobserve(entry.target);
      draw(entry.target);
    }),
    { rootMargin: "800px 0px" },
  );
  plots.forEach((plot) => soon.observe(plot));

  dark.addEventListener("change", () => redraw());
  narrow.addEventListener("change", () => redraw());

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".chips button");
    if (!button) return;
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    const scenario = button.closest(".scenario");
    scenario.querySelectorAll(`figure[data-mark="${button.dataset.mark}"]`).forEach((figure) => { figure.hidden = !on; });
    redraw(scenario.querySelectorAll(".plot"));
  });

  // What was out of sight kept the colours of its time.
  document.addEventListener("toggle", (event) => event.target.open && redraw(event.target.querySelectorAll(".plot")), true);

  document.addEventListener("change", (event) => {
    const plot = event.target.dataset?.plot && byId(event.target.dataset.plot);
    if (!plot) return;
    plot.dataset.figure = event.target.value;
    draw(plot);
  });

  // A link into a folded part unfolds it.
  const unfold = () => {
    let part = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
    const target = part;
    for (; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  const folded = [];
  addEventListener("beforeprint", () => {
    printing = true;
    document.documentElement.classList.add("printing");
    document.querySelectorAll("details.scenario:not([open])").forEach((part) => { part.open = true; folded.push(part); });
    plots.filter(visible).forEach(draw);
  });
  addEventListener("afterprint", () => {
    printing = false;
    document.documentElement.classList.remove("printing");
    folded.splice(0).forEach((part) => { part.open = false; });
    redraw();
  });
})();
