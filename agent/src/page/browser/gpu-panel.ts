import type { AgentGpu } from '@latchkey/contract';

import { Chart } from './chart.ts';
import { Card, type MeterItem, MeterList, type Panel } from './components.ts';
import { fillChildren, make, setText } from './dom.ts';
import { divide, gpuKey } from './metric-values.ts';
import {
  formatBytes,
  formatCelsius,
  formatHertz,
  formatPercent,
  formatWatts,
  nameGpu,
} from './format.ts';
import type { Timeline } from './timeline.ts';

interface GpuBlock {
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly state: HTMLElement;
  readonly chart: Chart;
  readonly list: MeterList;
}

export function makeGpuPanel(timeline: Timeline): Panel {
  const card = new Card('gpus', 'Graphics');
  const blocks: GpuBlock[] = [];
  const create = (): GpuBlock => {
    const chart = new Chart(timeline, { format: formatPercent, least: 0.1, most: 1 });
    const [heading, state, list] = [make('h3'), make('span.badge', 'asleep'), new MeterList()];
    const head = make('div.line', heading, state);
    const element = make('div.gpu', head, chart.element, list.element);
    return { element, heading, state, chart, list };
  };
  return {
    element: card.element,
    draw() {
      for (const { chart } of blocks) chart.draw();
    },
    update({ gpus = [] }) {
      fillChildren(card.body, blocks, gpus, create, (block, gpu) => {
        setText(block.heading, nameGpu(gpu, gpus));
        showGpu(block, gpu);
      });
      return gpus.length > 0;
    },
  };
}

function showGpu({ state, chart, list }: GpuBlock, gpu: AgentGpu): void {
  const key = gpuKey(gpu);
  state.hidden = gpu.asleep !== true;
  chart.element.hidden = gpu.usage_ratio === undefined;
  const hasMemory = gpu.memory_used_bytes !== undefined && gpu.memory_total_bytes !== undefined;
  chart.setLines([
    { key: `${key}.usage`, label: 'Usage', colour: 'green', isFilled: true },
    ...(hasMemory ? [{ key: `${key}.memory`, label: 'Memory', colour: 'pink' as const }] : []),
  ]);
  list.show(listGpuValues(gpu));
}

/** Lists the figures that a GPU reports. */
function listGpuValues(gpu: AgentGpu): MeterItem[] {
  const { memory_used_bytes: used, memory_total_bytes: total, power_watts: power } = gpu;
  const { power_limit_watts: limit, temperature_celsius: celsius } = gpu;
  const { fan_ratio: fan, awake_ratio: awake } = gpu;
  const items: MeterItem[] = [];
  if (awake !== undefined) {
    const detail = 'time outside its sleep state; its time with work is shorter';
    const value = formatPercent(awake);
    items.push({ name: 'Awake', value, detail, ratio: awake, isJudged: false });
  }
  if (used !== undefined) {
    const detail = total === undefined ? '' : `of ${formatBytes(total)}`;
    const name = gpu.memory_shared === true ? 'Shared memory' : 'Memory';
    items.push({ name, value: formatBytes(used), detail, ratio: divide(used, total) });
  }
  if (power !== undefined) {
    const detail = limit === undefined ? '' : `of ${formatWatts(limit)}`;
    const ratio = divide(power, limit);
    items.push({ name: 'Power', value: formatWatts(power), detail, ratio, isJudged: false });
  }
  if (celsius !== undefined) {
    items.push({ name: 'Temperature', value: formatCelsius(celsius), ratio: celsius / 100 });
  }
  if (fan !== undefined) {
    items.push({ name: 'Fan', value: formatPercent(fan), ratio: fan, isJudged: false });
  }
  if (gpu.frequency_hertz !== undefined) {
    items.push({ name: 'Clock', value: formatHertz(gpu.frequency_hertz) });
  }
  return items;
}
