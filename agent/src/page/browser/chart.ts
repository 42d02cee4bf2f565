import type UPlot from 'uplot';

import { make, setText } from './dom.ts';
import { formatTime } from './format.ts';
import { type Colour, withOpacity, onThemeChange, resolveColour } from './theme.ts';
import type { Column, Timeline } from './timeline.ts';

/** Defined by uPlot's script, which precedes this one. */
declare const uPlot: typeof UPlot;

const HEIGHT = 148;

/** Charts near the viewport are drawn as well. */
const NEAR = { rootMargin: '300px' };

/** A line of a chart. */
export interface Line {
  /** The key of the figure. */
  readonly key: string;
  readonly label: string;
  readonly colour: Colour;
  readonly isFilled?: boolean;
}

interface ChartOptions {
  readonly format: (value: number) => string;
  /** The minimum of the scale's top. */
  readonly least: number;
  /** The maximum of the scale's top: 1 for ratios. */
  readonly most?: number;
}

/** Lines over the last minutes, with a legend that shows the newest figures, or those under the pointer. */
export class Chart {
  readonly element = make('div.chart');
  readonly #legend = make('ul.legend');
  readonly #canvas = make('div.canvas');
  readonly #timeline: Timeline;
  readonly #options: ChartOptions;
  #lines: readonly Line[] = [];
  #values: HTMLElement[] = [];
  #plot: UPlot | null = null;
  #isVisible = true;

  constructor(timeline: Timeline, options: ChartOptions) {
    this.#timeline = timeline;
    this.#options = options;
    this.#canvas.setAttribute('aria-hidden', 'true');
    this.element.append(this.#legend, this.#canvas);
    new ResizeObserver(() => this.#resize()).observe(this.#canvas);
    new IntersectionObserver(([entry]) => {
      this.#isVisible = entry?.isIntersecting ?? true;
      if (this.#isVisible) this.draw();
    }, NEAR).observe(this.#canvas);
    onThemeChange(() => this.#plot?.redraw());
  }

  /** Replaces the lines. */
  setLines(lines: readonly Line[]): void {
    const isSame =
      lines.length === this.#lines.length &&
      lines.every(({ key, label }, at) => {
        const shown = this.#lines[at];
        return shown?.key === key && shown.label === label;
      });
    if (isSame) return;
    this.#lines = lines;
    this.#buildLegend();
    this.#plot?.destroy();
    this.#plot = null;
  }

  /** Draws the timeline, unless the chart is out of view. */
  draw(): void {
    const columns = this.#lines.map(({ key }) => this.#timeline.column(key));
    const index = this.#plot?.cursor.idx ?? this.#timeline.times.length - 1;
    this.#showValues(columns, index);
    if (!this.#isVisible || document.hidden || this.#canvas.clientWidth === 0) return;
    const data: UPlot.AlignedData = [this.#timeline.times, ...columns];
    if (this.#plot === null) this.#plot = this.#createPlot(data);
    else this.#plot.setData(data);
  }

  #showValues(columns: readonly Column[], index: number): void {
    for (const [at, column] of columns.entries()) {
      const value = column[index] ?? null;
      const element = this.#values[at];
      if (element !== undefined)
        setText(element, value === null ? '–' : this.#options.format(value));
    }
  }

  #buildLegend(): void {
    this.#values = this.#lines.map(() => make('span.value'));
    const entries = this.#lines.map(({ label, colour }, at) => {
      const swatch = make(`span.swatch.${colour}`);
      return make('li', swatch, make('span.label', label), this.#values[at] ?? '');
    });
    this.#legend.replaceChildren(...entries);
  }

  #resize(): void {
    const width = this.#canvas.clientWidth;
    if (width === 0) return;
    if (this.#plot === null) this.draw();
    else this.#plot.setSize({ width, height: HEIGHT });
  }

  #createPlot(data: UPlot.AlignedData): UPlot {
    const { format, least, most = Infinity } = this.#options;
    const width = this.#canvas.clientWidth;
    const range = (_: UPlot, min: number | null, max: number | null): [number, number] => [
      Math.min(0, (min ?? 0) * 1.1),
      Math.min(most, Math.max(least, (max ?? 0) * 1.1)),
    ];
    const axis = {
      stroke: () => resolveColour('muted'),
      grid: { stroke: () => resolveColour('grid'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui, sans-serif',
    };
    const options: UPlot.Options = {
      width,
      height: HEIGHT,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false },
        sync: { key: 'time' },
        points: { size: 6 },
      },
      scales: { x: { range: () => this.#timeline.range }, y: { range } },
      axes: [
        {
          ...axis,
          size: 26,
          space: 44,
          grid: { show: false },
          values: (_, at) => at.map((each) => formatTime(each)),
        },
        { ...axis, size: 62, space: 26, values: (_, at) => at.map((each) => format(each)) },
      ],
      series: [{}, ...this.#lines.map(toSeries)],
      hooks: { setCursor: [({ cursor }) => this.#showAt(cursor.idx)] },
    };
    return new uPlot(options, data, this.#canvas);
  }

  #showAt(index: number | null | undefined): void {
    const columns = this.#lines.map(({ key }) => this.#timeline.column(key));
    this.#showValues(columns, index ?? this.#timeline.times.length - 1);
  }
}

function toSeries({ label, colour, isFilled = false }: Line): UPlot.Series {
  return {
    label,
    width: 1.5,
    points: { show: false },
    stroke: () => resolveColour(colour),
    ...(isFilled ? { fill: (plot) => makeFill(plot, resolveColour(colour)) } : {}),
  };
}

function makeFill({ ctx, bbox }: UPlot, colour: string): CanvasGradient | string {
  const gradient = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height);
  gradient.addColorStop(0, withOpacity(colour, 0.35));
  gradient.addColorStop(1, withOpacity(colour, 0.04));
  return gradient;
}
