// Plots of reports, drawn as SVG from the geometry that the evaluation computes (graphctx/eval/plots.py).
import { html } from "./html.js";

const colour = (series) => `series s${series % 8}${series >= 8 ? " dashed" : ""}`;

export const Plot = ({ plot }) => html`
  <figure class="plot">
    <figcaption>${plot.title}</figcaption>
    <svg viewBox=${`0 0 ${plot.width} ${plot.height}`} role="img" aria-label=${plot.title}>
      <g class="grid">
        ${plot.y_ticks.map((tick) => html`<line x1=${plot.left} x2=${plot.right} y1=${tick.at} y2=${tick.at} />`)}
        ${plot.ranges.length > 0 && plot.x_ticks.map((tick) => html`<line x1=${tick.at} x2=${tick.at} y1=${plot.top} y2=${plot.bottom} />`)}
      </g>
      <g class="ticks">
        ${plot.y_ticks.map((tick) => html`<text x=${plot.left - 6} y=${tick.at + 4} text-anchor="end">${tick.label}</text>`)}
        ${plot.x_ticks.map((tick) => html`<text x=${tick.at} y=${plot.bottom + 15} text-anchor="middle">${tick.label}</text>`)}
        <text x=${(plot.left + plot.right) / 2} y=${plot.bottom + 33} text-anchor="middle">${plot.x_label}</text>
        ${plot.y_label && html`<text transform=${`translate(11 ${(plot.top + plot.bottom) / 2}) rotate(-90)`} text-anchor="middle">${plot.y_label}</text>`}
      </g>
      <line class="axis" x1=${plot.left} x2=${plot.right} y1=${plot.bottom} y2=${plot.bottom} />
      ${plot.lines.filter((line) => line.dots.length).map((line) => html`
        <g class=${colour(line.series)}>
          <polyline points=${line.dots.map((dot) => `${dot.x},${dot.y}`).join(" ")} />
          ${line.dots.map((dot) => html`<circle cx=${dot.x} cy=${dot.y} r="3"><title>${dot.says}</title></circle>`)}
        </g>`)}
      ${plot.bars.map((bar) => html`<rect class=${colour(bar.series)} x=${bar.x} y=${bar.y} width=${bar.width} height=${bar.height}><title>${bar.says}</title></rect>`)}
      ${plot.ranges.map((range) => html`
        <g class=${colour(range.series)}><title>${range.says}</title>
          <text class="row" x=${plot.left - 8} y=${range.y + 4} text-anchor="end">${range.name}</text>
          <line x1=${range.low} x2=${range.high} y1=${range.y} y2=${range.y} />
          <circle cx=${range.middle} cy=${range.y} r="4.5" /></g>`)}
    </svg>
    ${plot.legend.length > 1 && html`<ul class="legend">
      ${plot.legend.map(([series, name]) => html`<li class=${colour(series)}><i></i>${name}</li>`)}</ul>`}
  </figure>`;
