import type { AgentMemory, AgentSwap } from '@latchkey/contract';

import { Chart, type Line } from './chart.ts';
import { Card, makeChartPanel, type Panel } from './components.ts';
import { fillChildren, make, setText } from './dom.ts';
import { formatBytes, formatPercent } from './format.ts';
import { splitMemory } from './metric-values.ts';
import type { Timeline } from './timeline.ts';

const LINES: readonly Line[] = [
  { key: 'memory.used', label: 'Used', colour: 'teal', isFilled: true },
  { key: 'memory.arc', label: 'ZFS cache', colour: 'violet' },
  { key: 'swap.used', label: 'Swap', colour: 'rose' },
];

export function makeMemoryPanel(timeline: Timeline): Panel {
  const chart = new Chart(timeline, { format: formatPercent, least: 1, most: 1 });
  const bar = makeBar();
  const card = new Card('memory', 'Memory', chart.element, bar.element);
  return makeChartPanel(card, chart, ({ memory, swap }) => {
    if (memory === undefined) return false;
    const used = `${formatBytes(memory.used_bytes)} of ${formatBytes(memory.total_bytes)}`;
    card.setNote(used, describeSwap(swap));
    chart.setLines(LINES.filter(({ key }) => hasLine(key, memory, swap)));
    bar.show(memory);
    return true;
  });
}

function hasLine(key: string, memory: AgentMemory, swap: AgentSwap | undefined): boolean {
  if (key === 'memory.arc') return memory.zfs_arc_bytes !== undefined;
  return key !== 'swap.used' || (swap !== undefined && swap.total_bytes > 0);
}

function describeSwap(swap: AgentSwap | undefined): string | undefined {
  if (swap === undefined || swap.total_bytes === 0) return undefined;
  return `swap ${formatBytes(swap.used_bytes)} of ${formatBytes(swap.total_bytes)}`;
}

/** One bar with a piece for each use, and its legend. */
function makeBar(): { element: HTMLElement; show: (memory: AgentMemory) => void } {
  const [pieces, legend] = [make('div.pieces'), make('ul.legend')];
  pieces.setAttribute('aria-hidden', 'true');
  const shownPieces: { element: HTMLElement }[] = [];
  const shownEntries: ReturnType<typeof makeEntry>[] = [];
  return {
    element: make('div.breakdown', pieces, legend),
    show(memory) {
      const parts = splitMemory(memory);
      fillChildren(pieces, shownPieces, parts, makePiece, ({ element }, { kind, bytes }) => {
        element.className = `piece ${kind}`;
        element.style.setProperty('--ratio', (bytes / memory.total_bytes).toFixed(4));
      });
      fillChildren(legend, shownEntries, parts, makeEntry, ({ element, label, value }, part) => {
        element.className = `entry ${part.kind}`;
        setText(label, part.name);
        setText(value, formatBytes(part.bytes));
      });
    },
  };
}

function makePiece() {
  return { element: make('div') };
}

function makeEntry() {
  const [label, value] = [make('span.label'), make('span.value')];
  return { element: make('li', make('span.swatch'), label, value), label, value };
}
