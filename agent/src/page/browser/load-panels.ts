import { Chart } from './chart.ts';
import { Card } from './components.ts';
import { formatAmount, formatPercent } from './format.ts';
import type { Panel, PanelContext } from './panel.ts';

export function makeLoadPanel({ timeline }: PanelContext): Panel {
  const chart = new Chart(timeline, { format: formatAmount, least: 1 });
  const card = new Card('load', 'Load', chart.element);
  chart.setLines([
    { key: 'load.1m', label: '1 min', colour: 'violet', isFilled: true },
    { key: 'load.5m', label: '5 min', colour: 'blue' },
    { key: 'load.15m', label: '15 min', colour: 'grey' },
  ]);
  return {
    element: card.element,
    draw: () => chart.draw(),
    update({ load }) {
      if (load === undefined) return false;
      card.setNote(`${load.tasks} tasks`, `${load.runnable_tasks} runnable`);
      return true;
    },
  };
}

const PRESSURE_LINES = [
  { key: 'pressure.cpu', resource: 'cpu', label: 'Processor', colour: 'blue' },
  { key: 'pressure.memory', resource: 'memory', label: 'Memory', colour: 'teal' },
  { key: 'pressure.io', resource: 'io', label: 'Disks', colour: 'amber', isFilled: true },
] as const;

/** The share of time in which some task had to wait. */
export function makePressurePanel({ timeline }: PanelContext): Panel {
  const chart = new Chart(timeline, { format: formatPercent, least: 0.05, most: 1 });
  const card = new Card('pressure', 'Pressure', chart.element);
  card.setNote('time in which tasks had to wait');
  return {
    element: card.element,
    draw: () => chart.draw(),
    update({ pressure }) {
      const lines = PRESSURE_LINES.filter(({ resource }) => pressure?.[resource]?.some);
      chart.setLines(lines);
      return lines.length > 0;
    },
  };
}
