import type { AgentCpu } from '@latchkey/contract';

import { Chart } from './chart.ts';
import { Card, formatKnown, makeChartPanel, type Panel } from './components.ts';
import { fillChildren, make } from './dom.ts';
import { formatAmount, formatHertz, formatPercent } from './format.ts';
import type { Timeline } from './timeline.ts';

/** Shows the usage of the processor and of each core. */
export function makeCpuPanel(timeline: Timeline): Panel {
  const chart = new Chart(timeline, { format: formatPercent, least: 0.1, most: 1 });
  const cores = make('div.cores');
  const bars: { element: HTMLElement }[] = [];
  cores.setAttribute('role', 'img');
  const card = new Card('cpu', 'Processor', chart.element, cores);
  chart.setLines([
    { key: 'cpu.usage', label: 'Usage', colour: 'blue', isFilled: true },
    { key: 'cpu.iowait', label: 'I/O wait', colour: 'amber' },
    { key: 'cpu.steal', label: 'Steal', colour: 'rose' },
  ]);
  return makeChartPanel(card, chart, ({ cpu }) => {
    if (cpu === undefined) return false;
    const count = `${cpu.logical_count} ${cpu.logical_count === 1 ? 'core' : 'cores'}`;
    card.setNote(count, formatKnown(cpu.frequency_hertz, formatHertz));
    showCores(cpu, cores, bars);
    return true;
  });
}

function showCores(cpu: AgentCpu, parent: HTMLElement, bars: { element: HTMLElement }[]): void {
  parent.hidden = cpu.cores.length < 2;
  fillChildren(
    parent,
    bars,
    cpu.cores,
    makeCoreBar,
    ({ element }, { core, usage_ratio: usage = 0 }) => {
      element.style.setProperty('--ratio', usage.toFixed(4));
      element.title = `Core ${core}: ${formatPercent(usage)}`;
    },
  );
  const busiest = Math.max(0, ...cpu.cores.map(({ usage_ratio: usage = 0 }) => usage));
  parent.setAttribute(
    'aria-label',
    `${cpu.cores.length} cores, the busiest at ${formatPercent(busiest)}`,
  );
}

function makeCoreBar(): { element: HTMLElement } {
  return { element: make('div.core', make('div.filled')) };
}

export function makeLoadPanel(timeline: Timeline): Panel {
  const chart = new Chart(timeline, { format: formatAmount, least: 1 });
  const card = new Card('load', 'Load', chart.element);
  chart.setLines([
    { key: 'load.1m', label: '1 min', colour: 'violet', isFilled: true },
    { key: 'load.5m', label: '5 min', colour: 'blue' },
    { key: 'load.15m', label: '15 min', colour: 'grey' },
  ]);
  return makeChartPanel(card, chart, ({ load }) => {
    if (load === undefined) return false;
    card.setNote(`${load.tasks} tasks`, `${load.runnable_tasks} runnable`);
    return true;
  });
}

const PRESSURE_LINES = [
  { key: 'pressure.cpu', resource: 'cpu', label: 'Processor', colour: 'blue' },
  { key: 'pressure.memory', resource: 'memory', label: 'Memory', colour: 'teal' },
  { key: 'pressure.io', resource: 'io', label: 'Disks', colour: 'amber', isFilled: true },
] as const;

/** Shows the ratio of time in which some task had to wait. */
export function makePressurePanel(timeline: Timeline): Panel {
  const chart = new Chart(timeline, { format: formatPercent, least: 0.05, most: 1 });
  const card = new Card('pressure', 'Pressure', chart.element);
  card.setNote('time in which tasks had to wait');
  return makeChartPanel(card, chart, ({ pressure }) => {
    const lines = PRESSURE_LINES.filter(({ resource }) => pressure?.[resource]?.some);
    chart.setLines(lines);
    return lines.length > 0;
  });
}
