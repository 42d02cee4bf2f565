import { formatAmount, formatByteRate, formatPercent } from '../../browser/format.ts';
import type { Figure, Machine } from '../core/types.ts';

/** A figure that all machines are compared by. */
export interface Quantity {
  readonly key: 'cpu' | 'memory' | 'load' | 'network' | 'disk';
  readonly label: string;
  /** The heading of the figure. */
  readonly title: string;
  /** What the value is, unless the title names it. */
  readonly note?: string;
  /** The columns that are added up. */
  readonly figures: readonly Figure[];
  readonly isPerProcessor?: true;
  /** `ratio`: 0 to 1. `amount`: from 0 to the largest value. `rate`: logarithmic, because one backup would flatten all others. */
  readonly scale: 'ratio' | 'amount' | 'rate';
  readonly format: (value: number) => string;
}

/** In the order of the choice. */
export const QUANTITIES: readonly Quantity[] = [
  {
    key: 'cpu',
    label: 'CPU',
    title: 'CPU usage',
    figures: ['cpu_usage_ratio'],
    scale: 'ratio',
    format: formatPercent,
  },
  {
    key: 'memory',
    label: 'Memory',
    title: 'Memory usage',
    figures: ['memory_usage_ratio'],
    scale: 'ratio',
    format: formatPercent,
  },
  {
    key: 'load',
    label: 'Load',
    title: 'Load',
    note: 'per processor',
    figures: ['load_1m'],
    isPerProcessor: true,
    scale: 'amount',
    format: formatAmount,
  },
  {
    key: 'network',
    label: 'Network',
    title: 'Network traffic',
    note: 'received and sent',
    figures: ['receive_bytes_per_second', 'transmit_bytes_per_second'],
    scale: 'rate',
    format: formatByteRate,
  },
  {
    key: 'disk',
    label: 'Disk',
    title: 'Disk traffic',
    note: 'read and written',
    figures: ['disk_read_bytes_per_second', 'disk_write_bytes_per_second'],
    scale: 'rate',
    format: formatByteRate,
  },
];

/** Finds a quantity by its key; the first one for an unknown key. */
export function findQuantity(key: string): Quantity {
  return QUANTITIES.find((each) => each.key === key) ?? firstQuantity();
}

function firstQuantity(): Quantity {
  const [first] = QUANTITIES;
  if (first === undefined) throw new TypeError('There are no quantities.');
  return first;
}

/** Returns the newest value; NaN when it is absent. */
export function readLatest(quantity: Quantity, machine: Machine): number {
  if (machine.latestAt === null) return Number.NaN;
  return sumFigures(quantity, machine, (figure) => machine.latest[figure]);
}

/** Returns the value of a slot of the history; NaN in a gap. */
export function readSlot(quantity: Quantity, machine: Machine, slot: number): number {
  const { columns } = machine.history;
  return sumFigures(quantity, machine, (figure) => columns[figure][slot] ?? Number.NaN);
}

/** Adds up what is known: a machine may report what it receives, and not what it sends. */
function sumFigures(
  { figures, isPerProcessor }: Quantity,
  { host }: Machine,
  read: (figure: Figure) => number,
): number {
  let sum = Number.NaN;
  for (const figure of figures) {
    const value = read(figure);
    if (!Number.isNaN(value)) sum = Number.isNaN(sum) ? value : sum + value;
  }
  return isPerProcessor === true ? sum / (host?.cpu_logical_count ?? 1) : sum;
}

/** Formats a value; `–` for an absent one. */
export function formatValue(quantity: Quantity, value: number): string {
  return Number.isNaN(value) ? '–' : quantity.format(value);
}
