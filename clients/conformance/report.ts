import { formatRows } from '#server/cli/table.ts';
import { countOf } from '#server/lib/text.ts';

import type { Outcome, SceneReport } from './play/outcome.ts';
import type { DriverOfClient } from './play/play-all.ts';

/** Returns the line of a driver that was built, or was not. */
export function formatBuilt(client: string, driver: DriverOfClient): string {
  if ('program' in driver) return `${client}: ready`;
  return `${client}: ${driver.outcome.status}: ${driver.outcome.reason}`;
}

/** Returns the lines of a scene: its number, what each client did, and how clients differ. */
export function formatProgress(
  { theme, scene, outcomes }: SceneReport,
  index: number,
  total: number,
): string {
  const statuses = [...outcomes].map(([client, { status }]) => `${client} ${status}`).join(', ');
  const differences = [...outcomes].flatMap(([client, outcome]) =>
    outcome.status === 'differs' ? [`    ${client}: ${outcome.reason}`] : [],
  );
  const head = `[${String(index).padStart(3)}/${total}] ${theme}: ${scene}: ${statuses}`;
  return [head, ...differences].join('\n');
}

/** Returns the table of all scenes and clients, the reasons of skipped scenes, and the sums. */
export function formatReport(reports: readonly SceneReport[], clients: readonly string[]): string {
  const table = formatRows(reports, 'No scene was played.', [
    ['theme', ({ theme }) => theme],
    ['scene', ({ scene }) => scene],
    ...clients.map(
      (client) => [client, (report: SceneReport) => statusOf(report, client)] as const,
    ),
  ]);
  const sums = clients.map((client) => `${client}: ${formatSums(reports, client)}`);
  return [table, '', countOf(reports.length, 'scene'), ...sums].join('\n');
}

/** Whether a client differs in a scene. */
export function hasDifference(reports: readonly SceneReport[]): boolean {
  return reports.some(({ outcomes }) =>
    [...outcomes.values()].some(({ status }) => status === 'differs'),
  );
}

function statusOf({ outcomes }: SceneReport, client: string): string {
  return outcomes.get(client)?.status ?? '–';
}

function formatSums(reports: readonly SceneReport[], client: string): string {
  const outcomes = reports.flatMap(({ outcomes: all }) => all.get(client) ?? []);
  const count = (status: Outcome['status']) =>
    outcomes.filter((outcome) => outcome.status === status).length;
  const reasons = new Set(
    outcomes.flatMap((outcome) => (outcome.status === 'skipped' ? [outcome.reason] : [])),
  );
  const skipped = reasons.size === 0 ? '' : ` (${[...reasons].join('; ')})`;
  return `${count('ok')} ok, ${count('differs')} differ, ${count('skipped')} skipped${skipped}`;
}
