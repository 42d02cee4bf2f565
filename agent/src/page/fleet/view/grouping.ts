import type { ListedMachine } from '../core/types.ts';

/** How machines are grouped. `name`: by the part of the name before its number. */
export type GroupBy = 'label' | 'name' | 'none';

/** Machines under one heading. */
export interface Group<Item> {
  /** Stable, for the folds that the browser keeps. */
  readonly key: string;
  readonly title: string;
  readonly items: readonly Item[];
}

interface Grouped {
  readonly listed: Pick<ListedMachine, 'name' | 'labels'>;
}

const collator = new Intl.Collator('en', { numeric: true });

/** Compares names as people do: `web-9` before `web-10`. */
function compareNames(a: string, b: string): number {
  return collator.compare(a, b);
}

/** Groups machines in the order of titles, those without a group last. Machines of a group are in the order of their names. */
export function groupMachines<Item extends Grouped>(
  machines: readonly Item[],
  by: GroupBy,
): Group<Item>[] {
  const sorted = [...machines].sort((a, b) => compareNames(a.listed.name, b.listed.name));
  if (by === 'none') return [{ key: '', title: 'Machines', items: sorted }];
  const groups = Map.groupBy(sorted, ({ listed }) =>
    by === 'label' ? (listed.labels[0] ?? '') : findNamePrefix(listed.name),
  );
  if (by === 'name') joinSingles(groups);
  return [...groups]
    .sort(([a], [b]) => Number(a === '') - Number(b === '') || compareNames(a, b))
    .map(([key, items]) => ({ key, title: key === '' ? titleRest(by) : key, items }));
}

function titleRest(by: GroupBy): string {
  return by === 'label' ? 'Without label' : 'Others';
}

/** A prefix of one machine is no group. */
function joinSingles<Item extends Grouped>(groups: Map<string, Item[]>): void {
  const singles = [...groups].filter(([, items]) => items.length === 1);
  if (singles.length === 0) return;
  for (const [key] of singles) groups.delete(key);
  const rest = [...(groups.get('') ?? []), ...singles.flatMap(([, items]) => items)];
  groups.set(
    '',
    rest.sort((a, b) => compareNames(a.listed.name, b.listed.name)),
  );
}

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/u;

/** Returns the part of a name before its number: `web` of `web-12.example.com`; the network of an IPv4 address. */
export function findNamePrefix(name: string): string {
  if (IPV4.test(name)) return name.slice(0, name.lastIndexOf('.'));
  const [host = ''] = name.split('.');
  const [number = ''] = /(?<!\d)\d+$/u.exec(host) ?? [];
  if (number !== '') return host.slice(0, -number.length).replace(/[-_]$/u, '');
  const separator = host.search(/[-_][^-_]*$/u);
  return separator === -1 ? host : host.slice(0, separator);
}

/** Chooses a grouping for a list that nobody grouped yet. */
export function suggestGroupBy(machines: readonly Grouped[]): GroupBy {
  return machines.some(({ listed }) => listed.labels.length > 0) ? 'label' : 'none';
}

/** Whether each word of a search is in one of a machine's texts, whatever its case. */
export function matchesSearch(search: string, texts: readonly string[]): boolean {
  const lower = texts.map((text) => text.toLowerCase());
  const words = search.toLowerCase().split(/\s+/u).filter(Boolean);
  return words.every((word) => lower.some((text) => text.includes(word)));
}
