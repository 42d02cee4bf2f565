import type { AgentContainer, AgentProcesses } from '@latchkey/contract';

import { Card, type Cell, formatKnown, type Panel, Table } from './components.ts';
import { make } from './dom.ts';
import { formatByteRate, formatBytes, formatPercent } from './format.ts';

type Process = AgentProcesses['top_by_cpu'][number];

/** Shows the processes that use most processor time or memory; one busy core is 100 %. */
export function makeProcessPanel(): Panel {
  const table = new Table('Processes', ['Process', 'PID', 'CPU', 'Memory']);
  const choice = makeChoice(() => show());
  const card = new Card('processes', 'Processes', choice.element, table.element);
  let processes: AgentProcesses = { count: 0, top_by_cpu: [], top_by_memory: [] };
  function show(): void {
    const { top_by_cpu: busiest, top_by_memory: largest } = processes;
    table.show((choice.isByMemory() ? largest : busiest).map(toProcessRow));
  }
  return {
    element: card.element,
    update(snapshot) {
      if (snapshot.processes === undefined) return false;
      processes = snapshot.processes;
      card.setNote(`${processes.count} processes`);
      show();
      return true;
    },
  };
}

function toProcessRow({ name, pid, cpu_cores: cores, memory_bytes: bytes }: Process): Cell[] {
  return [name, String(pid), formatKnown(cores, formatPercent), formatKnown(bytes, formatBytes)];
}

/** Two buttons, one of which is pressed. */
function makeChoice(onChange: () => void): { element: HTMLElement; isByMemory: () => boolean } {
  const [byCpu, byMemory] = [make('button', 'By CPU'), make('button', 'By memory')];
  let isMemory = false;
  function choose(wantsMemory: boolean): void {
    isMemory = wantsMemory;
    byCpu.setAttribute('aria-pressed', String(!wantsMemory));
    byMemory.setAttribute('aria-pressed', String(wantsMemory));
  }
  for (const [button, wantsMemory] of [
    [byCpu, false],
    [byMemory, true],
  ] as const) {
    button.setAttribute('type', 'button');
    button.addEventListener('click', () => {
      choose(wantsMemory);
      onChange();
    });
  }
  choose(false);
  const element = make('div.choice', byCpu, byMemory);
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', 'Order of the processes');
  return { element, isByMemory: () => isMemory };
}

export function makeContainerPanel(): Panel {
  const table = new Table('Containers', ['Container', 'CPU', 'Memory', 'Disks']);
  const card = new Card('containers', 'Containers', table.element);
  return {
    element: card.element,
    update({ containers = [] }) {
      card.setNote(...countRuntimes(containers));
      table.show(containers.map(toContainerRow));
      return containers.length > 0;
    },
  };
}

/** Such as `2 docker`. */
function countRuntimes(containers: readonly AgentContainer[]): string[] {
  const groups = Object.groupBy(containers, ({ runtime }) => runtime);
  return Object.entries(groups).map(([runtime, each]) => `${each.length} ${runtime}`);
}

function toContainerRow(container: AgentContainer): Cell[] {
  const { cpu_cores: cores, memory_bytes: memory, memory_limit_bytes: limit } = container;
  const { read_bytes_per_second: read, write_bytes_per_second: written } = container;
  const of =
    limit === undefined || memory === undefined ? '' : ` (${formatPercent(memory / limit)})`;
  return [
    container.id,
    formatKnown(cores, formatPercent),
    formatKnown(memory, (bytes) => `${formatBytes(bytes)}${of}`),
    read === undefined && written === undefined
      ? undefined
      : formatByteRate((read ?? 0) + (written ?? 0)),
  ];
}
