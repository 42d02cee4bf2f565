import type { Install } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { PageReader } from '#server/db/list.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { recordAccess } from '../../audit/record-access.ts';
import {
  countInstallEvents,
  listInstallActivations,
  listInstallEvents,
  type InstallActivation,
  type InstallEvent,
} from '../queries/installs.ts';
import { listPartitionDays } from '../queries/partitions.ts';
import type { Day } from '../rules/days.ts';

export interface InstallOverview {
  /** Whether its events are stored. */
  readonly sharing: boolean;
  readonly activations: readonly InstallActivation[];
  readonly events: number;
  /** The first and the last day on which events arrived, or null. */
  readonly firstDay: Day | null;
  readonly lastDay: Day | null;
  /** The most frequent first. */
  readonly names: readonly { readonly name: string; readonly events: number }[];
}

/**
 * Summarizes the stored data of an install from its events of all days.
 * @param onDay called with the number of days read
 */
export async function showInstall(
  { pool }: { readonly pool: Pool },
  installId: string,
  onDay: (done: number) => void = () => {},
): Promise<InstallOverview> {
  const activations = await listInstallActivations(pool, installId);
  const names = new Map<string, number>();
  const days: Day[] = [];
  for (const [index, day] of (await listPartitionDays(pool)).entries()) {
    const counts = await countInstallEvents(pool, installId, day);
    if (counts.length > 0) days.push(day);
    for (const { name, events } of counts) names.set(name, (names.get(name) ?? 0) + events);
    onDay(index + 1);
  }
  return {
    sharing: isSharing(activations),
    activations,
    events: [...names.values()].reduce((sum, events) => sum + events, 0),
    firstDay: days[0] ?? null,
    lastDay: days.at(-1) ?? null,
    names: [...names]
      .map(([name, events]) => ({ name, events }))
      .toSorted((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1)),
  };
}

const lastSeen = ({ last_validated_at: at }: InstallActivation): number => at.getTime();

/** Shows an install by its activations, without reading events. */
export async function viewInstall(
  { pool }: { readonly pool: Pool },
  installId: string,
): Promise<Install> {
  const activations = await listInstallActivations(pool, installId);
  return {
    id: installId,
    usage_sharing: isSharing(activations),
    activations: activations
      .toSorted((a, b) => lastSeen(b) - lastSeen(a))
      .map((activation) => ({
        license_id: activation.license_id,
        activation_id: activation.activation_id,
        machine_id: activation.machine_id,
        is_active: activation.deactivated_at === null,
        os_version: activation.os_version,
        app_version: activation.app_version,
        activated_at: activation.activated_at.toISOString(),
        last_seen_at: activation.last_validated_at.toISOString(),
      })),
  };
}

type SharingReport = Pick<
  InstallActivation,
  'usage_sharing' | 'usage_sharing_reported_at' | 'deactivated_at'
>;

/** Whether an install shares usage data, by the rule of `storeEvents`. */
export function isSharing(activations: readonly SharingReport[]): boolean {
  const reports = activations.filter(({ usage_sharing: shares }) => shares !== null);
  const active = reports.filter(({ deactivated_at: at }) => at === null);
  const counted = active.length > 0 ? active : reports;
  const newest = Math.max(...counted.map(reportedAtMs));
  return counted
    .filter((report) => reportedAtMs(report) === newest)
    .every(({ usage_sharing: shares }) => shares === true);
}

function reportedAtMs({ usage_sharing_reported_at: reportedAt }: SharingReport): number {
  return reportedAt?.getTime() ?? 0;
}

const PAGE_ROWS = 5_000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

type ExportDependencies = PageReader & { readonly clock: Clock };

/** Records an export, and returns its pieces. */
export async function downloadInstall(
  deps: ExportDependencies,
  { actor, id, reason }: { readonly id: string; readonly actor: string; readonly reason: string },
): Promise<AsyncIterable<string>> {
  const access = { actor, action: 'install.export', subjectId: id, reason, details: {} };
  await recordAccess(deps, access);
  return exportInstall(deps, id);
}

const EVENT_COLUMNS: CsvColumns<InstallEvent> = {
  event_id: (event) => event.event_id,
  received_at: (event) => event.received_at,
  occurred_at: (event) => event.occurred_at,
  client_occurred_at: (event) => event.client_occurred_at,
  session_id: (event) => event.session_id,
  name: (event) => event.name,
  app_version: (event) => event.app_version,
  os_version: (event) => event.os_version,
  props: (event) => event.props && JSON.stringify(event.props),
};

/** Reads all events of an install, the oldest day first, after an audit entry. */
export async function exportInstallEvents(
  deps: ExportDependencies,
  id: string,
  actor: string,
): Promise<{
  readonly columns: CsvColumns<InstallEvent>;
  readonly rows: AsyncIterable<InstallEvent>;
}> {
  const entry = { actor, action: 'install.export_events', subjectId: id, reason: null };
  await recordAccess(deps, { ...entry, details: {} });
  return { columns: EVENT_COLUMNS, rows: readEvents(deps, id) };
}

/**
 * Yields all stored data of an install as the lines of one JSON object: its activations, without license keys
 * and fingerprints, and its events day by day. Takes a slot of the limiter for each page.
 */
export async function* exportInstall(
  { clock, ...reader }: ExportDependencies,
  installId: string,
): AsyncGenerator<string> {
  const { databaseLimiter, pool } = reader;
  const activations = await databaseLimiter.run(() => listInstallActivations(pool, installId));
  const head = { install_id: installId, exported_at: clock.now(), activations };
  yield `${JSON.stringify(head).slice(0, -1)},"events":[`;
  let separator = '\n';
  for await (const event of readEvents(reader, installId)) {
    yield `${separator}${JSON.stringify(event)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

async function* readEvents(
  { databaseLimiter, pool }: PageReader,
  installId: string,
): AsyncGenerator<InstallEvent> {
  for (const day of await databaseLimiter.run(() => listPartitionDays(pool))) {
    for (let afterId = NIL_UUID; ;) {
      const after = { day, afterId, limit: PAGE_ROWS };
      const page = await databaseLimiter.run(() => listInstallEvents(pool, installId, after));
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_ROWS) break;
      afterId = last.event_id;
    }
  }
}
