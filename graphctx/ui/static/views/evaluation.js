// Reports of graphctx eval: tables, plots and the worst questions; two runs side by side; one question explained.
import { html } from "../lib/html.js";
import { call, useLoaded } from "../lib/api.js";
import { Wide, when } from "../lib/controls.js";
import { Empty, Loaded } from "../lib/parts.js";
import { Plot } from "../lib/plot.js";
import { go, link } from "../lib/router.js";
import { number, plural, visible } from "../lib/text.js";

const HEADLINE = ["R@5", "answer", "answer@500", "span", "points@1000"];
const SIGNIFICANT = 0.05;

/** A value for people: shares in percent, others as they are. */
function shown(measure, value, signed = false) {
  const text = measure.share ? (value * 100).toFixed(1) : Math.abs(value) < 100 ? value.toFixed(1) : number(Math.round(value));
  return (signed && value > 0 ? `+${text}` : text).replace("-", "−");
}

export default function Evaluation({ params, status }) {
  if (params.get("explain")) return html`<${Explain} ...${{ params, status }} />`;
  if (params.get("before")) return html`<${Compare} params=${params} />`;
  if (params.get("report")) return html`<${Report} ...${{ params, status }} />`;
  return html`<${Reports} />`;
}

// The list

function Reports() {
  const loaded = useLoaded((signal) => call("evaluation_reports", {}, signal), []);
  const compare = (event) => {
    event.preventDefault();
    const { before, after } = Object.fromEntries(new FormData(event.target));
    go("evaluation", { before, after });
  };
  return html`
    <h1>Evaluation</h1>
    <${Loaded} of=${loaded} what="Reading the reports">
      ${(found) => {
        const readable = found.reports.filter((one) => !one.fault);
        return html`
          ${!found.reports.length && html`<${Empty}>No report yet. <code>graphctx eval SUITE --report ${found.folder || "reports"}/NAME.json</code> writes one.<//>`}
          ${readable.length > 1 && html`
            <form class="filters" onSubmit=${compare}>
              ${[["before", "Before", 1], ["after", "After", 0]].map(([name, title, at]) => html`
                <label>${title} <select name=${name}>${readable.map((one, place) => html`
                  <option value=${one.name} selected=${place === at}>${one.name}</option>`)}</select></label>`)}
              <button>Compare two runs</button>
            </form>`}
          ${found.reports.map((one) => html`
            <article class="card" key=${one.name} aria-label=${one.name}>
              <h2 class="name">${one.fault ? visible(one.name) : html`<a href=${link("evaluation", { report: one.name })}>${visible(one.name)}</a>`}
                <span class="quiet"> ${when(one.created_at)}${one.version && ` · graphctx ${one.version}`}</span></h2>
              ${one.fault && html`<p class="wrong">${visible(one.fault)}</p>`}
              ${one.suites.map((suite) => html`
                <p class="suite">${visible(suite.suite)} <span class="quiet">${plural(suite.n, "question")}, ${visible(suite.variant)}</span>
                  ${HEADLINE.filter((name) => name in suite.measures).map((name) => html`
                    <span class="figure"><span class="quiet">${name}</span> ${(suite.measures[name].mean * 100).toFixed(1)}</span>`)}</p>`)}
            </article>`)}
          ${found.n_more > 0 && html`<p class="quiet">${plural(found.n_more, "older report")} not listed.</p>`}`;
      }}
    <//>`;
}

const Back = ({ to = {}, children = "All reports" }) => html`<p><a href=${link("evaluation", to)}>${children}</a></p>`;

// One report

function Report({ params, status }) {
  const name = params.get("report");
  const loaded = useLoaded((signal) => call("evaluation_report", { name }, signal), [name]);
  return html`
    <${Back} />
    <h1>${visible(name)}</h1>
    <${Loaded} of=${loaded} what="Reading the report">
      ${(report) => html`
        <p class="quiet">${when(report.created_at)}${report.version && `, graphctx ${report.version}`}. Shares are in percent, with their 95 % intervals.</p>
        ${report.suites.map((suite) => html`<${Suite} key=${suite.summary.suite} ...${{ suite, name, status }} />`)}
        ${report.entities.length > 0 && html`<h2>Entities</h2><pre class="wide" tabindex="0">${JSON.stringify(report.entities, null, 2)}</pre>`}`}
    <//>`;
}

function Suite({ suite, name, status }) {
  const { summary, measures } = suite;
  const variants = Object.entries(summary.variants);
  const types = Object.entries(summary.variants[suite.variant].types).filter(([type]) => type);
  const of = summary.questions;
  const columns = measures.filter((one) => HEADLINE.includes(one.name));
  return html`
    <section class="suite-report" aria-label=${summary.suite}>
      <h2>${visible(summary.suite)}</h2>
      <p class="quiet">${plural(of.asked, "question")}${of.unanswerable > 0 && `, ${of.unanswerable} of them not answered by the documents`}; ${summary.judge} are ranked; snapshot <code>${summary.snapshot_id}</code>${status.snapshot_id && status.snapshot_id !== summary.snapshot_id && ", which is not the one served here"}.</p>
      ${summary.warnings.map((warning) => html`<p class="wrong">${visible(warning)}</p>`)}
      <div class="plots">${suite.plots.map((plot) => html`<${Plot} key=${plot.title} plot=${plot} />`)}</div>
      <h3>Measures</h3>
      <${Folded} rows=${measures}>${(rows) => html`<${Wide} label="Measures"><table class="measures">
        <thead><tr><th scope="col">measure</th>${variants.map(([variant]) => html`<th scope="col" class="number">${visible(variant)}</th>`)}</tr></thead>
        <tbody>${rows.map((measure) => html`<tr key=${measure.name}><th scope="row">${measure.name}</th>
          ${variants.map(([variant, one]) => {
            const found = one.measures[measure.name];
            const spread = suite.intervals[variant]?.[measure.name];
            return html`<td class="number">${found ? shown(measure, found.mean) : "–"}
              ${found && spread && spread[0] !== spread[1] && html`<small>${shown(measure, spread[0])} to ${shown(measure, spread[1])}</small>`}</td>`;
          })}</tr>`)}</tbody></table><//>`}<//>
      ${types.length > 1 && html`
        <h3>By type of question</h3>
        <${Wide} label="Measures"><table class="measures">
          <thead><tr><th scope="col">type</th>${columns.map((one) => html`<th scope="col" class="number">${one.name}</th>`)}</tr></thead>
          <tbody>${types.map(([type, means]) => html`<tr key=${type}><th scope="row">${visible(type)}</th>
            ${columns.map((one) => html`<td class="number">${means[one.name] ? shown(one, means[one.name].mean) : "–"}</td>`)}</tr>`)}</tbody></table><//>`}
      ${suite.misses.length > 0 && html`
        <h3>The questions that went worst</h3>
        <p class="quiet">For each piece of gold: the best rank of a passage that holds it after every stage, and the number of the first quote that touches it.</p>
        ${suite.misses.map((miss) => html`<${Miss} key=${miss.id} ...${{ miss, suite, name, status }} />`)}`}
    </section>`;
}

/** A table of the main measures, and one of the others that is folded. */
function Folded({ rows, children }) {
  const [table] = [children].flat();
  const main = rows.filter((one) => one.main);
  const others = rows.filter((one) => !one.main);
  if (!main.length || !others.length) return table(rows);
  return html`${table(main)}<details class="others"><summary>${plural(others.length, "other measure")}</summary>${table(others)}</details>`;
}

/** A text with the answers marked, whatever their case. */
function marked(text, answers) {
  const words = answers.filter((answer) => answer.trim()).sort((one, other) => other.length - one.length)
    .map((answer) => answer.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return visible(text);
  return text.split(new RegExp(`(${words.join("|")})`, "i")).map((piece, at) => (at % 2 ? html`<mark>${visible(piece)}</mark>` : visible(piece)));
}

function Miss({ miss, suite, name, status }) {
  const place = (one) => (status.state === "ready" && one.end_char
    ? html`<a href=${link("documents", { uri: one.doc_uri, start: one.start_char, end: one.end_char })}>${visible(one.doc_uri)}</a>`
    : visible(one.doc_uri));
  return html`
    <details class="miss">
      <summary><span class="score" title="Score of this question">${Math.round(miss.score * 100)}</span> <span class="question">${visible(miss.question)}</span>${" "}
        <span class="quiet">${visible(miss.id)}${miss.type && ` · ${visible(miss.type)}`}</span></summary>
      <p>${miss.answerable
        ? html`Answer: ${miss.answers.length ? html`<b>${visible(miss.answers.join("; "))}</b>` : html`<span class="quiet">none is given</span>`}`
        : "The documents do not answer it."}
        ${status.state === "ready" && html` <a class="explain" href=${link("evaluation", { explain: miss.question, variant: suite.variant, report: name, snapshot: suite.summary.snapshot_id })}>Explain</a>`}</p>
      ${miss.gold.length > 0 && html`
        <${Wide} label="Gold"><table class="gold"><thead><tr><th scope="col">gold</th>${Object.keys(miss.gold[0].ranks).map((stage) => html`<th scope="col" class="number">${stage}</th>`)}<th scope="col" class="number">quote</th></tr></thead>
          <tbody>${miss.gold.map((gold) => html`<tr>
            <td>${place(gold)}${gold.text && html`<br /><q>${marked(gold.text, miss.answers)}</q>`}<br /><span class=${gold.missed ? "wrong" : "right"}>${visible(gold.why)}</span></td>
            ${Object.values(gold.ranks).map((rank) => html`<td class="number">${rank ?? "–"}</td>`)}<td class="number">${gold.quote ?? "–"}</td></tr>`)}</tbody></table><//>`}
      ${miss.quotes.map((quote, at) => html`
        <article class="quote"><footer>${at + 1}. ${place(quote)} <span class="quiet">${visible([quote.title, quote.heading].filter(Boolean).join(" › "))} · confidence ${quote.confidence.toFixed(2)}</span></footer>
          <blockquote>${marked(quote.quote, miss.answers)}</blockquote></article>`)}
      ${!miss.quotes.length && html`<p class="quiet">${miss.quotes_asked ? "Nothing was quoted." : "No quotes were asked for."}</p>`}
    </details>`;
}

// Two runs

function Compare({ params }) {
  const [before, after] = [params.get("before"), params.get("after")];
  const loaded = useLoaded(
    (signal) => Promise.all([
      call("evaluation_compare", { before, after }, signal), call("evaluation_report", { name: before }, signal),
      call("evaluation_report", { name: after }, signal),
    ]),
    [before, after],
  );
  return html`
    <${Back} />
    <h1>Two runs</h1>
    <p>${visible(before)} <span class="quiet">before,</span> ${visible(after)} <span class="quiet">after.</span>
      ${" "}<a href=${link("evaluation", { before: after, after: before })}>Exchange them</a></p>
    <${Loaded} of=${loaded} what="Comparing">
      ${([found, ...reports]) => html`
        ${!found.suites.length && html`<${Empty}>The two reports have no suite in common.<//>`}
        ${found.suites.map((suite) => html`<${Compared} key=${suite.suite} ...${{ suite, reports, names: [before, after] }} />`)}`}
    <//>`;
}

function Compared({ suite, reports, names }) {
  const sides = reports.map((report) => report.suites.find((one) => one.summary.suite === suite.suite));
  const titles = [...new Set(sides.flatMap((side) => side.plots.map((plot) => plot.title)))];
  const fell = suite.changed.filter((one) => one.after < one.before);
  const rose = suite.changed.filter((one) => one.after > one.before).reverse();
  return html`
    <section class="suite-report" aria-label=${suite.suite}>
      <h2>${visible(suite.suite)}</h2>
      <p class="quiet">${plural(suite.n, "question")} in common, by ${visible([...new Set(suite.variants)].join(" and "))}${
        suite.snapshots[0] === suite.snapshots[1] ? ", over the same snapshot" : ", over two snapshots"}.</p>
      ${suite.measures.length > 0 ? html`
        <${Folded} rows=${suite.measures}>${(rows) => html`<${Wide} label="Measures"><table class="measures">
          <thead><tr><th scope="col">measure</th><th scope="col" class="number">before</th><th scope="col" class="number">after</th><th scope="col" class="number">difference</th><th scope="col" class="number">95 % interval</th><th scope="col" class="number">p</th></tr></thead>
          <tbody>${rows.map((one) => {
            const gain = one.difference * one.direction;
            const sure = one.p_adjusted < SIGNIFICANT && gain !== 0;
            return html`<tr key=${one.name}><th scope="row">${one.name}</th><td class="number">${shown(one, one.before)}</td><td class="number">${shown(one, one.after)}</td>
              <td class=${`number ${sure ? (gain > 0 ? "right" : "wrong") : ""}`}>${shown(one, one.difference, true)}${sure && (gain > 0 ? " better" : " worse")}</td>
              <td class="number quiet">${one.main && `${shown(one, one.low, true)} to ${shown(one, one.high, true)}`}</td>
              <td class="number quiet">${one.main && (one.p_adjusted < 0.001 ? "< 0.001" : one.p_adjusted.toFixed(3))}</td></tr>`;
          })}</tbody></table><//>`}<//>
        <p class="quiet note">Paired by question; p-values of a randomisation test, adjusted over the main measures.</p>`
        : html`<p class="quiet">One of the reports holds no single questions, so that means alone can be compared.</p>`}
      ${titles.map((title) => html`<div class="plots" key=${title}>
        ${sides.map((side, at) => {
          const plot = side.plots.find((one) => one.title === title);
          return plot && html`<${Plot} plot=${{ ...plot, title: `${title}: ${names[at]}` }} />`;
        })}</div>`)}
      <${Changed} title="Fell" questions=${fell} /><${Changed} title="Rose" questions=${rose} />
    </section>`;
}

const Changed = ({ title, questions }) => questions.length > 0 && html`
  <h3>${title}: ${plural(questions.length, "question")}</h3>
  <${Wide} label="Questions and passages"><table><thead><tr><th scope="col">question</th><th scope="col" class="number">before</th><th scope="col" class="number">after</th></tr></thead>
    <tbody>${questions.slice(0, 30).map((one) => html`<tr key=${one.id}><td>${visible(one.question)} <span class="quiet">${visible(one.id)}</span></td>
      <td class="number">${Math.round(one.before * 100)}</td><td class="number">${Math.round(one.after * 100)}</td></tr>`)}</tbody></table><//>`;

// One question

const STAGES = {
  bm25: "By words (BM25)", vector: "By meaning (cosine)", hybrid: "Hybrid score",
  definition: "Passages that define what the question names", graph: "What the expansion adds",
};

function Explain({ params, status }) {
  const [question, report, snapshot] = [params.get("explain"), params.get("report"), params.get("snapshot")];
  const variant = params.get("variant") ?? undefined;
  const loaded = useLoaded((signal) => call("evaluation_explain", { question, variant }, signal), [question, variant]);
  return html`
    ${report ? html`<${Back} to=${{ report }}>${visible(report)}<//>` : html`<${Back} />`}
    <h1>${visible(question)}</h1>
    <${Loaded} of=${loaded} what="Asking again">
      ${(found) => html`
        <p class="quiet">By ${visible(found.variant)}, over snapshot <code>${found.snapshot_id}</code>${snapshot && snapshot !== found.snapshot_id && " (the report was made over another one)"}. <a href=${link("ask", { q: question })}>Ask it</a></p>
        ${!found.mode ? html`<${Empty}>Nothing was searched: ${found.empty_reason}.<//>` : html`
          <p>Words: ${Object.entries(found.terms).map(([term, weight]) => html`<code>${visible(term)}</code> <span class="quiet">${weight.toFixed(1)}</span> `)}
            ${found.entities.length > 0 && html`<br />Names: ${found.entities.map((one) => html`${visible(one.name)} <span class="quiet">${plural(one.units, "passage")}</span> `)}`}</p>
          <h2>Quotes</h2>
          ${!found.quotes.length && html`<p class="quiet">None: ${found.empty_reason}.</p>`}
          ${found.quotes.map((quote, at) => html`<article class="quote" key=${at}>
            <footer>${at + 1}. ${visible(quote.doc_uri)}:${quote.line} <span class="quiet">confidence ${quote.confidence.toFixed(2)}</span></footer>
            ${quote.sentences.map((one) => html`<p class="sentence">${visible(one.text)}<br /><span class="quiet">${Object.entries(one.features).filter(([, value]) => value).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(" · ")}</span></p>`)}</article>`)}
          <h2>The ranking</h2>
          <${Final} found=${found} />
          <div class="stages">${Object.entries(found.stages).filter(([, units]) => units.length).map(([stage, units]) => html`
            <section key=${stage}><h3>${STAGES[stage] ?? stage}</h3><ol>${units.map((one) => html`
              <li><${Place} unit=${one.unit} /> <span class="quiet">${one.score.toFixed(3)}</span></li>`)}</ol></section>`)}</div>
          ${found.edges.length > 0 && html`<h2>The edges that led there</h2>
            <ul>${[...found.edges].sort((one, other) => one.target_rank - other.target_rank).map((edge) => html`<li>
              <b>#${edge.target_rank}</b> <${Place} unit=${edge.target} /> <span class="quiet">by ${edge.kind} ${edge.value.toFixed(2)}</span> ${edge.entity && html`over <b>${visible(edge.entity)}</b> `}
              from <${Place} unit=${edge.source} />${edge.sentence && html`<br /><q>${visible(edge.sentence)}</q>`}</li>`)}</ul>`}`}`}
    <//>`;
}

const Place = ({ unit }) => html`<span class="place" title=${unit.opening}>${visible(unit.heading)} <span class="quiet">${visible(unit.doc_uri)}:${unit.line}</span></span>`;

function Final({ found }) {
  const parts = Object.keys(found.final[0]?.parts ?? {});
  return html`<${Wide} label="Questions and passages"><table>
    <thead><tr><th scope="col">#</th><th scope="col">passage</th><th scope="col" class="number">score</th>${parts.map((part) => html`<th scope="col" class="number">${part}</th>`)}<th scope="col">by</th></tr></thead>
    <tbody>${found.final.map((one) => html`<tr key=${one.rank}><th scope="row">${one.rank}</th><td><${Place} unit=${one.unit} /></td><td class="number">${one.score.toFixed(3)}</td>
      ${parts.map((part) => html`<td class="number">${one.parts[part].toFixed(3)}</td>`)}<td>${one.source}</td></tr>`)}</tbody></table><//>`;
}
