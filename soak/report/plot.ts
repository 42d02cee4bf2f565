import { html, type Html } from './html.ts';
import { createLinearScale, createLogScale, type Scale } from './scale.ts';

/** A value over time; null: unknown. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [seconds: number, value: number | null])[];
}

/** A fault on the axis of time. */
export interface Band {
  readonly number: number;
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

export interface Plot {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
  readonly isLogarithmic?: boolean;
}

/** The axis of time, which all plots of a report share. */
export interface TimeAxis {
  readonly seconds: number;
  readonly ticks: readonly { readonly atSeconds: number; readonly label: string }[];
  readonly bands: readonly Band[];
}

/** The unit of the drawing, which the page stretches to its width: lines keep their width, and labels are text of the page. */
const WIDTH = 1_000;
const HEIGHT = 200;

/** Renders a plot: a figure with its legend, its axes and a drawing. */
export function renderPlot(
  { isLogarithmic = false, series, title, unit }: Plot,
  axis: TimeAxis,
): Html {
  const scale = chooseScale(series, isLogarithmic);
  return html`<figure>
    <figcaption><strong>${title}</strong> <span class="unit">${unit}</span></figcaption>
    ${renderLegend(series)}
    <div class="plot">
      ${scale.ticks.map((tick) => html`<span class="y" style="bottom:${percent(scale.place(tick))}">${formatNumber(tick)}</span>`)}
      <svg
        viewBox="0 0 ${WIDTH} ${HEIGHT}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${title}, ${unit}"
      >
        ${axis.bands.map((band) => renderBand(band, axis))}
        ${scale.ticks.map((tick) => renderGrid(scale.place(tick)))}
        ${series.map((each, index) => renderLine(each, index, scale, axis))}
      </svg>
      ${listLabelled(axis).map((band) => html`<span class="band" style="left:${percent(middleOf(band) / axis.seconds)}">${band.number}</span>`)}
      ${axis.ticks.map(({ atSeconds, label }) => html`<span class="x" style="left:${percent(atSeconds / axis.seconds)}">${label}</span>`)}
    </div>
  </figure>`;
}

function chooseScale(series: readonly Series[], isLogarithmic: boolean): Scale {
  const values = series.flatMap(({ points }) =>
    points.flatMap(([, value]) => (value === null ? [] : [value])),
  );
  const largest = values.reduce((a, b) => Math.max(a, b), 0);
  if (!isLogarithmic) return createLinearScale(largest);
  const smallest = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return createLogScale(
    Number.isFinite(smallest) && smallest > 0 ? smallest : 1,
    largest > 0 ? largest : 10,
  );
}

function renderLegend(series: readonly Series[]): Html {
  return html`<ul class="legend">
    ${series.map(({ name, points }, index) => html`<li class="s${index}">${name} <span>${describeLargest(points)}</span></li>`)}
  </ul>`;
}

function describeLargest(points: Series['points']): string {
  const values = points.flatMap(([, value]) => (value === null ? [] : [value]));
  return values.length === 0 ? 'none' : `up to ${formatNumber(Math.max(...values))}`;
}

/** Labels closer than this overlap on a narrow page, in shares of the width; the table shows all numbers. */
const LABEL_DISTANCE = 0.03;

/** Returns the bands with a label: not those directly after a label. */
function listLabelled({ bands, seconds }: TimeAxis): Band[] {
  let last = Number.NEGATIVE_INFINITY;
  return bands.filter((band) => {
    const at = middleOf(band) / seconds;
    if (at - last < LABEL_DISTANCE) return false;
    last = at;
    return true;
  });
}

const middleOf = ({ fromSeconds, toSeconds }: Band): number => (fromSeconds + toSeconds) / 2;

function renderBand({ fromSeconds, toSeconds }: Band, { seconds }: TimeAxis): Html {
  const x = (fromSeconds / seconds) * WIDTH;
  const width = Math.max(1, ((toSeconds - fromSeconds) / seconds) * WIDTH);
  return html`<rect
    class="fault"
    x="${round(x)}"
    y="0"
    width="${round(width)}"
    height="${HEIGHT}"
  />`;
}

function renderGrid(position: number): Html {
  const y = round(HEIGHT * (1 - position));
  return html`<path class="grid" d="M0 ${y}H${WIDTH}" />`;
}

/** Unknown values leave gaps; a value between two gaps is a dot. */
function renderLine({ points }: Series, index: number, scale: Scale, { seconds }: TimeAxis): Html {
  let path = '';
  let isOpen = false;
  for (const [at, value] of points) {
    if (value !== null) {
      const place = `${round((at / seconds) * WIDTH)} ${round(HEIGHT * (1 - scale.place(value)))}`;
      path += isOpen ? `L${place}` : `M${place}h0`;
    }
    isOpen = value !== null;
  }
  return html`<path class="line s${index}" d="${path}" />`;
}

const percent = (share: number): string => `${round(share * 100)}%`;

const round = (number: number): number => Math.round(number * 10) / 10;

/** Formats a number with three digits: `12.5`, `183`, `240k`. */
export function formatNumber(number: number): string {
  if (number >= 10_000) return `${Number((number / 1_000).toPrecision(3))}k`;
  return String(Number(number.toPrecision(3)));
}
