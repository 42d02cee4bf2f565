import type { AgentCpu } from '@latchkey/contract';

import { Chart } from './chart.ts';
import { Card } from './components.ts';
import { fillChildren, make } from './dom.ts';
import { formatHertz, formatPercent } from './format.ts';
import type { Panel, PanelContext } from './panel.ts';

interface CoreBar {
  readonly element: HTMLElement;
}

/** How busy the processor is, and each of its cores. */
export function makeCpuPanel({ timeline }: PanelContext): Panel {
  const chart = new Chart(timeline, { format: formatPercent, least: 0.1, most: 1 });
  const cores = make('div.cores');
  const bars: CoreBar[] = [];
  cores.setAttribute('role', 'img');
  const card = new Card('cpu', 'Processor', chart.element, cores);
  chart.setLines([
    { key: 'cpu.usage', label: 'Usage', colour: 'blue', isFilled: true },
    { key: 'cpu.iowait', label: 'I/O wait', colour: 'amber' },
    { key: 'cpu.steal', label: 'Steal', colour: 'rose' },
  ]);
  return {
    element: card.element,
    draw: () => chart.draw(),
    update({ cpu }) {
      if (cpu === undefined) return false;
      const count = `${cpu.logical_count} ${cpu.logical_count === 1 ? 'core' : 'cores'}`;
      const hertz = cpu.frequency_hertz;
      card.setNote(count, hertz === undefined ? undefined : formatHertz(hertz));
      showCores(cpu, cores, bars);
      return true;
    },
  };
}

function showCores(cpu: AgentCpu, parent: HTMLElement, bars: CoreBar[]): void {
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

function makeCoreBar(): CoreBar {
  return { element: make('div.core', make('div.filled')) };
}
