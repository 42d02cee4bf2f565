import type { AgentHistoryPoint, AgentSnapshot } from '@latchkey/contract';

import {
  formatBytes,
  formatBytesPerSecond,
  formatLoad,
  formatRatio,
  listPiProblems,
} from '../cli/format.ts';
import { drawBar, drawLevels, listSeries, type Series, sparkline, styleOfRatio } from './charts.ts';
import { fitText, type Line, lineWidth, span } from './text.ts';
import type { View } from './view.ts';

const LABEL_WIDTH = 9;
const VALUE_WIDTH = 6;
const RATE_WIDTH = 10;
const MAX_CORE_LINES = 4;
const MIN_BAR_WIDTH = 6;

/** Draws the single figures of a machine. */
export function drawGauges({ snapshot, points }: View, width: number): Line[] {
  if (snapshot === null) return [];
  const { cpu, memory, swap, batteries = [] } = snapshot;
  const processor = sparkline(listSeries(points)[0], width - barLine('', 0, width).used);
  return [
    ...line(cpu, (part) => [...barLine('CPU', part.usage_ratio, width).line, ...processor]),
    ...drawCores(cpu, width),
    ...line(memory, (part) => describeBytes('Memory', part, width)),
    ...line(swap, (part) => describeBytes('Swap', part, width)),
    ...batteries.map(({ name, charge_ratio: charge, status }) => [
      ...barLine(name, charge === undefined ? undefined : 1 - charge, width, charge).line,
      span(status.replaceAll('_', ' '), 'dim'),
    ]),
    ...drawLoad(snapshot),
    ...drawTraffic(snapshot, points, width),
    ...drawProblems(snapshot),
  ];
}

/** Draws a line when the machine has the part. */
function line<T>(part: T | undefined, draw: (part: T) => Line): Line[] {
  return part === undefined ? [] : [draw(part)];
}

/** @param shown the displayed ratio, where the colour follows another one */
function barLine(
  name: string,
  ratio: number | undefined,
  width: number,
  shown = ratio,
): { readonly line: Line; readonly used: number } {
  const barWidth = Math.max(MIN_BAR_WIDTH, Math.min(40, Math.floor((width - 28) / 2)));
  const drawn = [
    span(fitText(name, LABEL_WIDTH - 1), 'bold'),
    span(' '),
    ...drawBar(shown, barWidth).map(({ text, style }) =>
      span(text, style === 'dim' ? 'dim' : styleOfRatio(ratio)),
    ),
    span(`${fitText(formatRatio(shown), VALUE_WIDTH, 'right')}  `),
  ];
  return { line: drawn, used: lineWidth(drawn) };
}

function describeBytes(
  name: string,
  part: { usage_ratio: number; used_bytes: number; total_bytes: number },
  width: number,
): Line {
  const { line: bar, used } = barLine(name, part.usage_ratio, width);
  const [some, all] = [formatBytes(part.used_bytes), formatBytes(part.total_bytes)];
  const of = `${some} of ${all}`;
  return [...bar, span(used + of.length > width ? `${some}/${all}` : of, 'dim')];
}

/** Draws one column for each core. */
function drawCores(cpu: AgentSnapshot['cpu'], width: number): Line[] {
  const { cores = [], shares } = cpu ?? {};
  const levels = drawLevels(cores.map((core) => core.usage_ratio));
  const parts = shares && [
    `user ${formatRatio(shares.user_ratio)}`,
    `system ${formatRatio(shares.system_ratio)}`,
    `disk ${formatRatio(shares.iowait_ratio)}`,
    `steal ${formatRatio(shares.steal_ratio)}`,
  ];
  return [
    ...(levels.length > 1 ? wrapLevels(levels, Math.max(1, width - LABEL_WIDTH)) : []),
    ...(parts === undefined ? [] : [[label(''), span(parts.join('  '), 'dim')]]),
  ];
}

/** Wraps cores into a few lines, and leaves out cores that do not fit. */
function wrapLevels(levels: Line, room: number): Line[] {
  const count = Math.min(MAX_CORE_LINES, Math.ceil(levels.length / room));
  return Array.from({ length: count }, (_, at) => {
    const name = at === 0 ? 'Cores' : '';
    return [label(name), ...levels.slice(at * room, (at + 1) * room)];
  });
}

function drawLoad({ load, pressure, processes }: AgentSnapshot): Line[] {
  const count = processes === undefined ? '' : `  ${processes.count} processes`;
  const waits = [
    ['cpu', pressure?.cpu],
    ['memory', pressure?.memory],
    ['disks', pressure?.io],
  ] as const;
  const known = waits.flatMap(([name, part]) =>
    part?.some === undefined ? [] : `${name} ${formatRatio(part.some.average_10s_ratio)}`,
  );
  return [
    ...line(load, (part) => [
      label('Load'),
      span([part.load_1m, part.load_5m, part.load_15m].map(formatLoad).join('  ')),
      span(count, 'dim'),
    ]),
    ...(known.length === 0 ? [] : [[label('Pressure'), span(known.join('  '), 'dim')]]),
  ];
}

function drawTraffic(
  { network, disks }: AgentSnapshot,
  points: readonly AgentHistoryPoint[],
  width: number,
): Line[] {
  const [, received, sent, read, written] = listSeries(points);
  const pair = (name: string, signs: string, one?: Series, other?: Series): Line => {
    const [first = '', second = ''] = signs;
    const room = Math.floor((width - LABEL_WIDTH - 2) / 2);
    return [
      label(name),
      ...drawRate(first, one, room),
      span('  '),
      ...drawRate(second, other, room),
    ];
  };
  return [
    ...line(network, () => pair('Network', '↓↑', received, sent)),
    ...line(disks, () => pair('Disks', 'rw', read, written)),
  ];
}

function drawRate(sign: string, series: Series | undefined, width: number): Line {
  const rate = formatBytesPerSecond(series?.values.at(-1));
  const text = `${sign} ${fitText(rate, RATE_WIDTH + 1)} `;
  return [span(text), ...sparkline(series, width - text.length)];
}

function drawProblems({ units, disk_health: disks = [], raspberry_pi: pi }: AgentSnapshot): Line[] {
  const failed = units?.failed ?? [];
  const failing = disks.filter((disk) => disk.failing || disk.passed === false);
  const problems = pi === undefined ? [] : listPiProblems(pi);
  return [
    ...(failed.length === 0 ? [] : [[label('Failed'), span(failed.join(', '), 'red')]]),
    ...(failing.length === 0
      ? []
      : [[label('Failing'), span(failing.map(({ device }) => device).join(', '), 'red')]]),
    ...(problems.length === 0 ? [] : [[label('Pi'), span(problems.join(', '), 'red')]]),
  ];
}

function label(name: string) {
  return span(fitText(name, LABEL_WIDTH), 'bold');
}
