// The page: a section for each experiment.

const MOST = 12;

const runs = (count) => `${whole(count)} ${count > 1 ? "runs" : "run"}`;

function experimentSection(experiment, place) {
  const shown = new Set(experiment.cases.map((_, index) => index).slice(0, MOST));
  const drawn = experiment.cases.some((entry) => entry.curve);
  const curves = drawn ? curvesPanel(experiment, shown) : null;
  const toggle = curves && ((index) => {
    if (!shown.delete(index)) shown.add(index);
    curves.draw();
  });
  const hidden = experiment.cases.length > MOST;
  const title = experiment.title ? experiment.title[0].toUpperCase() + experiment.title.slice(1) : experiment.name;
  return el("section", { class: "experiment", id: `experiment-${place}` },
    el("p", { class: "name" }, experiment.name), el("h2", {}, title),
    experiment.lesson ? el("p", { class: "lesson" }, experiment.lesson) : null,
    experiment.partial?.unfinished ? el("p", { class: "changed" }, el("strong", {}, "Not complete: "),
      `figures of ${runs(experiment.partial.complete)}; ${runs(experiment.partial.unfinished)} not finished.`) : null,
    experiment.changed.length ? el("p", { class: "changed" }, el("strong", {}, "Settings differ from the experiment: "),
      `${experiment.changed.join("; ")}.`) : null,
    figureTable(experiment, shown, toggle), comparisonTables(experiment), meanings(experiment.metrics),
    curves ? curves.panel : null,
    curves ? el("p", { class: "note" }, "The line is the mean over seeds. The return's band is its pointwise 95% interval, ",
      "from 5 seeds on; with fewer, thin lines are the single runs. The spread's band reaches from the 10th to the 90th ",
      "percentile of the steps in which f decided the spread. ",
      hidden ? `The first ${MOST} cases are drawn. ` : "", "Click a case in the table to show or hide its curve.") : null,
    explorePanel(experiment), settingsOf(experiment),
    experiment.made ? el("p", { class: "made" }, `Made with ${experiment.made}`) : null);
}

const data = JSON.parse(document.getElementById("data").textContent);
data.colors.forEach((value, index) => document.documentElement.style.setProperty(`--color-${index}`, value));
const contents = document.getElementById("contents");
contents.hidden = data.experiments.length < 2;
contents.append(...data.experiments.map((experiment, place) =>
  el("a", { href: `#experiment-${place}` }, experiment.name)));
document.getElementById("experiments").append(...data.experiments.map(experimentSection));
