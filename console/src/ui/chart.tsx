import { useEffect, useRef, useState } from 'preact/hooks';

import { chooseLabels, chooseTicks, drawLine } from './chart-scale.ts';
import { formatDate, formatNumber, formatShortDate } from './format.ts';

/** A line of a chart. */
export interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Drawn dashed and pale, such as the previous period. */
  readonly isBackground?: boolean;
  /** The index from which values may still grow: the line ends before it. Default: none does. */
  readonly openFrom?: number;
}

interface ChartProps {
  /** What is shown, for screen readers and as the caption of its table. */
  readonly label: string;
  /** ISO 8601 dates or times, oldest first. */
  readonly times: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly height?: number;
}

/** Lines over time, with the values at the pointer; a table has the same numbers. */
export function Chart(props: ChartProps) {
  const { label, times, series } = props;
  const [isTable, setTable] = useState(false);
  const [pointed, setPointed] = useState<number | null>(null);
  const pointedTime = pointed === null ? undefined : times[pointed];
  return (
    <figure class="chart">
      <figcaption>
        <ul class="legend">
          {series.map((each, index) => (
            <li key={each.label}>
              <span class={`swatch ${classOf(each, index)}`} aria-hidden="true" />
              {each.label}
              {pointed !== null && <span class="value">{formatValue(each, pointed)}</span>}
            </li>
          ))}
          {pointedTime !== undefined && <li class="time">{formatDate(pointedTime)}</li>}
        </ul>
        <button type="button" class="button small" onClick={() => setTable(!isTable)}>
          {isTable ? 'Show as chart' : 'Show as table'}
        </button>
      </figcaption>
      {isTable ? (
        <ChartTable label={label} times={times} series={series} />
      ) : (
        <Plot {...props} pointed={pointed} onPoint={setPointed} />
      )}
    </figure>
  );
}

function classOf({ isBackground = false }: ChartSeries, index: number): string {
  return isBackground ? 'background' : `s${index}`;
}

interface PlotProps extends ChartProps {
  /** The index of the time at the pointer. */
  readonly pointed: number | null;
  readonly onPoint: (index: number | null) => void;
}

/** In pixels, like everything in the plot: texts are not scaled. */
const MARGIN = { top: 8, right: 12, bottom: 24, left: 44 } as const;
const TICK_DISTANCE = 48;
const LABEL_DISTANCE = 72;

function Plot({ label, times, series, height = 220, pointed, onPoint }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const inner = {
    width: width - MARGIN.left - MARGIN.right,
    height: height - MARGIN.top - MARGIN.bottom,
  };
  const largest = Math.max(0, ...series.flatMap(({ values }) => values.map((each) => each ?? 0)));
  const ticks = chooseTicks(largest, Math.max(1, Math.floor(inner.height / TICK_DISTANCE)));
  const top = ticks.at(-1) ?? 1;
  const step = inner.width / Math.max(1, times.length - 1);
  const x = (index: number): number => MARGIN.left + index * step;
  const y = (value: number): number => MARGIN.top + inner.height * (1 - value / top);
  const point = (event: PointerEvent): void => {
    const left = place.current?.getBoundingClientRect().left ?? 0;
    const index = Math.round((event.clientX - left - MARGIN.left) / step);
    onPoint(times.length === 0 ? null : Math.min(times.length - 1, Math.max(0, index)));
  };
  return (
    <div ref={place} class="plot" onPointerMove={point} onPointerLeave={() => onPoint(null)}>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={label}>
          {ticks.map((tick) => (
            <g key={tick}>
              <path class="grid" d={`M${MARGIN.left} ${y(tick)}H${width - MARGIN.right}`} />
              <text x={MARGIN.left - 8} y={y(tick) + 4} text-anchor="end">
                {formatNumber(tick)}
              </text>
            </g>
          ))}
          {chooseLabels(times.length, Math.floor(inner.width / LABEL_DISTANCE)).map((index) => (
            <text
              key={index}
              x={x(index)}
              y={height - 6}
              text-anchor={anchorOf(index, times.length)}
            >
              {formatShortDate(times[index] ?? '')}
            </text>
          ))}
          {pointed !== null && (
            <path class="pointer" d={`M${x(pointed)} ${MARGIN.top}V${MARGIN.top + inner.height}`} />
          )}
          {series.map((each, index) => (
            <path
              key={each.label}
              class={`line ${classOf(each, index)}`}
              d={drawLine(each.values.slice(0, each.openFrom), x, y)}
            />
          ))}
        </svg>
      )}
    </div>
  );
}

/** The last label would leave the chart. */
function anchorOf(index: number, count: number): 'middle' | 'end' {
  return index === count - 1 ? 'end' : 'middle';
}

/** Returns the width of an element, also after the window changed; 0 before it is laid out. */
function useWidth(place: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return width;
}

function ChartTable({ label, times, series }: ChartProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="plain">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map((each) => (
              <th key={each.label} scope="col" class="number">
                {each.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time}>
              <th scope="row">{formatDate(time)}</th>
              {series.map((each) => (
                <td key={each.label} class="number">
                  {formatValue(each, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function formatValue({ values, openFrom = values.length }: ChartSeries, index: number): string {
  const value = values[index];
  if (value == null) return '–';
  return formatNumber(value) + (index < openFrom ? '' : ' so far');
}
