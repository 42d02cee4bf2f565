import { formatBytesPerSecond, formatDuration } from '../cli/format.ts';
import { drawChart, listSeries } from './charts.ts';
import { drawGauges } from './gauges.ts';
import { joinColumns, type Panel, shortenPanels, spreadPanels } from './layout.ts';
import { drawTable, listTables } from './tables.ts';
import { fitLine, type Line, lineWidth, span, type Span } from './text.ts';
import type { ConnectionState, View } from './view.ts';

/** The size of a terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const GAP = 3;
const MIN_COLUMN_WIDTH = 52;
const MAX_COLUMNS = 3;

/** The footer with keys needs this many rows. */
const MIN_ROWS_WITH_FOOTER = 16;

/** A chart with its title and a blank line. */
const MIN_CHART_ROWS = 5;

/** Draws a view into a terminal size. */
export function drawScreen(view: View, { columns, rows }: Size): Line[] {
  const footer = drawFooter(view, rows);
  const height = Math.max(0, rows - 1 - footer.length);
  // The first snapshot may come after a minute; the hello has the history.
  const isEmpty = view.hello === null && view.snapshot === null;
  const drawn = isEmpty ? [] : drawBody(view, columns, height);
  // Without a connection, the figures are old.
  const body = view.state.kind === 'live' ? drawn : drawn.map(fade);
  const empty = Array.from({ length: Math.max(0, height - body.length) }, (): Line => []);
  const lines = [drawHeader(view, columns), ...body.slice(0, height), ...empty, ...footer];
  return lines.slice(0, rows).map((line) => fitLine(line, columns));
}

function drawHeader({ hello, snapshot, address, state }: View, width: number): Line {
  const { host } = hello ?? {};
  const uptime = snapshot?.uptime_seconds;
  const facts = [
    uptime === undefined ? undefined : `up ${formatDuration(uptime)}`,
    host?.os_name,
    host?.cpu_model ?? host?.machine_model,
  ].filter((fact) => fact !== undefined);
  const status = statusOf(state);
  const name = span(host?.hostname ?? address, 'bold');
  const left = [name, span(facts.map((fact) => `  ${fact}`).join(''), 'dim')];
  const room = Math.max(0, width - lineWidth([status]) - 1);
  return [...fitLine(left, room), span(' '), status];
}

function fade(line: Line): Line {
  return line.map(({ text }) => span(text, 'dim'));
}

function statusOf(state: ConnectionState): Span {
  if (state.kind === 'live') return span('● live', 'green');
  if (state.kind === 'silent') return span(`● silent for ${state.seconds} s`, 'yellow');
  if (state.kind === 'waiting') return span(`○ retry in ${state.seconds} s`, 'red');
  return span('○ connecting', 'yellow');
}

/** Draws the reason of a lost connection in every size, and the keys if they fit. */
function drawFooter({ state, address, hello }: View, rows: number): Line[] {
  if (state.kind === 'waiting') return [[span(state.why, 'red')]];
  if (rows < MIN_ROWS_WITH_FOOTER) return [];
  const agent =
    hello === null ? '' : `agent ${hello.agent_version}, every ${hello.interval_seconds} s`;
  return [[span('q ', 'bold'), span(`quit   ${address}   ${agent}`, 'dim')]];
}

function drawBody(view: View, width: number, height: number): Line[] {
  const fitting = Math.floor((width + GAP) / (MIN_COLUMN_WIDTH + GAP));
  const count = Math.max(1, Math.min(MAX_COLUMNS, fitting));
  const columnWidth = Math.floor((width - GAP * (count - 1)) / count);
  const tables = view.snapshot === null ? [] : listTables(view.snapshot);
  const panels = tables
    .map((table) => separate(drawTable(table, columnWidth)))
    .filter((panel) => panel.length > 0);
  const gauges = drawGauges(view, columnWidth);
  const columns = spreadPanels(gauges, panels, count).map((column, at) => {
    const lines = shortenPanels(column, height).flat();
    // Only the first column keeps its leading blank line.
    return at > 0 && lines[0]?.length === 0 ? lines.slice(1) : lines;
  });
  addCharts(columns, drawCharts(view, columnWidth), height);
  return joinColumns(columns, columnWidth, GAP);
}

function separate(panel: Panel): Panel {
  return panel.length === 0 ? [] : [[], ...panel];
}

type DrawChart = (height: number) => Panel;

/** Prepares charts of changing values. */
function drawCharts({ points }: View, width: number): DrawChart[] {
  return listSeries(points)
    .filter(({ values }) => values.some((value) => value !== undefined && value > 0))
    .map((series) => (height) => {
      const most = series.highest === 1 ? '100 %' : formatBytesPerSecond(series.highest);
      const title = [span(series.name, 'bold'), span(`  max ${most}`, 'dim')];
      return [[], title, ...drawChart(series.values, { ...series, width, height: height - 2 })];
    });
}

/** Fills the remaining rows with charts: each is added to the column with the most free rows, which its charts share. */
function addCharts(columns: Line[][], charts: readonly DrawChart[], height: number): void {
  const placed = columns.map((): DrawChart[] => []);
  const roomFor = (at: number): number =>
    (height - (columns[at]?.length ?? 0)) / ((placed[at]?.length ?? 0) + 1);
  for (const chart of charts) {
    const rooms = columns.map((_, at) => roomFor(at));
    const most = Math.max(...rooms);
    if (most < MIN_CHART_ROWS) break;
    placed[rooms.indexOf(most)]?.push(chart);
  }
  for (const [at, column] of columns.entries()) {
    for (const [index, draw] of (placed[at] ?? []).entries()) {
      const share = (height - column.length) / ((placed[at]?.length ?? 0) - index);
      column.push(...draw(Math.floor(share)));
    }
  }
}
