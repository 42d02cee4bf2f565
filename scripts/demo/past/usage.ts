/** Days of use and validations: one row for each machine and day, as heartbeats and validations would have stored them. */
import { toMachineKey } from '#server/features/usage/machine-key.ts';

import { DAY_MS, HOUR_MS, isWeekend, startOfDay } from '../time.ts';
import { versionAt, type Machine } from '../world/machines.ts';
import type { MachineUse, PlannedTrial } from '../world/plan.ts';
import { insertRows } from './insert-rows.ts';
import type { World } from './world.ts';

/** For how long the days of use are stored. */
export const USAGE_DAYS = 90;

/** A day on which a machine was used. */
export interface UsedDay {
  readonly use: MachineUse;
  readonly machine: Machine;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly beats: number;
  readonly version: string;
  /** Set while a trial runs. */
  readonly trial: PlannedTrial | null;
}

/** Decides on which of the last days each machine was used. */
export function planUsedDays({ activations, nowMs, plans, random }: World): UsedDay[] {
  const licensed = [...activations.keys()].map((use) => ({ use, trial: null }));
  const trials = plans.trials.map((trial) => ({ use: trial.use, trial }));
  return [...licensed, ...trials].flatMap(({ use, trial }) =>
    listDays(use, nowMs).flatMap((dayMs) => {
      const own = random.fork(
        `use ${use.machine.id} ${dayMs / DAY_MS - startOfDay(nowMs) / DAY_MS}`,
      );
      const isFirst = dayMs === startOfDay(use.fromMs);
      const habit = use.machine.habit * (isWeekend(dayMs) ? 0.3 : 1);
      if (!isFirst && !own.chance(trial === null ? habit : Math.max(habit, 0.5))) return [];
      const startMs = dayMs + (6 + own.next() * 9) * HOUR_MS;
      const firstMs = Math.floor(isFirst ? use.fromMs : startMs);
      if (firstMs > Math.min(nowMs, use.untilMs)) return [];
      const spanMs = own.exponential(2.5) * HOUR_MS;
      const lastMs = Math.min(firstMs + spanMs, nowMs, dayMs + DAY_MS - 1);
      const version = versionAt(use.machine, firstMs, nowMs);
      const beats = 1 + Math.floor((lastMs - firstMs) / HOUR_MS);
      const { machine } = use;
      return [{ use, machine, firstMs, lastMs: Math.floor(lastMs), beats, version, trial }];
    }),
  );
}

function listDays({ fromMs, untilMs }: MachineUse, nowMs: number): number[] {
  const first = Math.max(startOfDay(fromMs), startOfDay(nowMs) - (USAGE_DAYS - 1) * DAY_MS);
  const last = startOfDay(Math.min(untilMs, nowMs));
  const count = Math.max(0, (last - first) / DAY_MS + 1);
  return Array.from({ length: count }, (_, index) => first + index * DAY_MS);
}

/** Stores the days of use, and the first day of machines that were in use before. */
export async function fillUsage(
  { activations, context, nowMs }: World,
  days: readonly UsedDay[],
): Promise<void> {
  const keys = new Map<string, string>();
  const keyOf = ({ id }: Machine): string => {
    const key = keys.get(id) ?? toMachineKey(context.vault, id);
    keys.set(id, key);
    return key;
  };
  // A machine that had a trial and a license on the same day has one row.
  const byKey = new Map(days.map((day) => [`${day.machine.id} ${startOfDay(day.firstMs)}`, day]));
  await insertRows(context.pool, 'usage_days', USAGE_COLUMNS, [...byKey.values()], (day) => [
    keyOf(day.machine),
    new Date(day.firstMs).toISOString().slice(0, 10),
    new Date(day.firstMs),
    new Date(day.lastMs),
    day.beats,
    day.version,
    day.machine.osVersion,
  ]);
  const since = startOfDay(nowMs) - USAGE_DAYS * DAY_MS;
  const earlier = [...activations.keys()].filter(({ fromMs }) => fromMs < since);
  const first = new Map(earlier.map(({ machine, fromMs }) => [keyOf(machine), fromMs]));
  await insertRows(context.pool, 'usage_first_days', FIRST_COLUMNS, [...first], ([key, fromMs]) => [
    key,
    new Date(fromMs).toISOString().slice(0, 10),
  ]);
}

const USAGE_COLUMNS = {
  machine_key: 'uuid',
  day: 'date',
  first_at: 'timestamptz',
  last_at: 'timestamptz',
  beats: 'integer',
  app_version: 'text',
  os_version: 'text',
} as const;

const FIRST_COLUMNS = { machine_key: 'uuid', first_day: 'date' } as const;

/** Stores the validations of the days of use. Also of earlier days, at the same rate. */
export async function storeValidations(
  { activations, context, trialActivations }: World,
  days: readonly UsedDay[],
): Promise<void> {
  const daysOf = Map.groupBy(days, ({ use }) => use);
  const idOf = new Map([
    ...[...activations].map(([use, { id }]) => [use, id] as const),
    ...trialActivations,
  ]);
  const rows = [...idOf].map(([use, id]) => {
    const used = daysOf.get(use) ?? [];
    const lastMs = Math.max(use.fromMs, ...used.map((day) => Math.min(day.lastMs, use.untilMs)));
    const earlier = Math.max(0, (lastMs - use.fromMs) / DAY_MS - USAGE_DAYS) * use.machine.habit;
    const count = used.reduce((sum, { beats }) => sum + beats, 0) + Math.round(earlier * 2);
    return { id, lastAt: new Date(lastMs), count, version: used.at(-1)?.version ?? null };
  });
  await context.pool.query(STORE_VALIDATIONS, [
    rows.map(({ id }) => id),
    rows.map(({ lastAt }) => lastAt),
    rows.map(({ count }) => count),
    rows.map(({ version }) => version),
  ]);
}

const STORE_VALIDATIONS = `
  update activations set last_validated_at = seen.at, validation_count = seen.count,
         app_version = coalesce(seen.version, app_version),
         versions_reported_at = greatest(versions_reported_at, seen.at)
  from unnest($1::uuid[], $2::timestamptz[], $3::bigint[], $4::text[]) as seen (id, at, count, version)
  where activations.id = seen.id`;
