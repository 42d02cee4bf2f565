/** Events of the software: sessions with believable properties, the steps of new users, and a release that crashed. */
import { addDrops } from '#server/features/analytics/queries/events.ts';
import { createPartition } from '#server/features/analytics/queries/partitions.ts';
import { addDays, dayOf } from '#server/features/analytics/rules/days.ts';

import type { Random } from '../random.ts';
import { DAY_MS, MINUTE_MS } from '../time.ts';
import { insertRows } from './insert-rows.ts';
import { USAGE_DAYS, type UsedDay } from './usage.ts';
import type { World } from './world.ts';

interface Event {
  readonly id: string;
  readonly atMs: number;
  readonly day: UsedDay;
  readonly sessionId: string;
  readonly name: string;
  readonly props: Readonly<Record<string, string>> | null;
}

type Step = readonly [name: string, props: Readonly<Record<string, string>> | null];

/** The share of the days of use whose machine sends events: others have declined. */
const SHARING = 0.34;

/** Creates the events of the days of use. */
export function planEvents({ nowMs, random }: World, days: readonly UsedDay[]): Event[] {
  return days.flatMap((day) => {
    const own = random.fork(`events ${day.machine.id} ${day.firstMs}`);
    if (!own.chance(day.trial === null ? SHARING : 0.8)) return [];
    const sessionId = own.uuid();
    const steps = [...listFirstSteps(own, day), ...listWork(own, day)];
    return steps.flatMap(([name, props], index): Event[] => {
      const atMs = Math.floor(day.firstMs + index * own.exponential(4) * MINUTE_MS);
      if (atMs > Math.min(nowMs, day.lastMs + 30 * MINUTE_MS)) return [];
      return [{ id: createEventId(own, atMs), atMs, day, sessionId, name, props }];
    });
  });
}

/** The steps of a new user, each of which some do not reach. */
const FUNNEL: readonly (readonly [name: string, reach: number])[] = [
  ['onboarding_started', 1],
  ['template_chosen', 0.78],
  ['first_stroke', 0.91],
  ['first_export', 0.55],
];

function listFirstSteps(random: Random, { firstMs, trial }: UsedDay): Step[] {
  if (trial === null || firstMs - trial.atMs > DAY_MS / 2) return [];
  const steps: Step[] = [];
  for (const [name, reach] of FUNNEL) {
    if (!random.chance(trial.isConverted ? 0.5 + reach / 2 : reach)) break;
    steps.push([name, name === 'template_chosen' ? { template: pickTemplate(random) } : null]);
  }
  return steps;
}

function listWork(random: Random, day: UsedDay): Step[] {
  const steps: Step[] = [
    [
      'app_started',
      {
        source: random.weighted([
          ['dock', 60],
          ['file', 30],
          ['link', 10],
        ]),
      },
    ],
    [
      'project_opened',
      {
        kind: random.weighted([
          ['recent', 66],
          ['new', 24],
          ['template', 10],
        ]),
      },
    ],
  ];
  const strokes = Math.min(6, Math.floor(random.exponential(1.6)));
  for (let index = 0; index < strokes; index += 1)
    steps.push(['tool_used', { tool: pickTool(random) }]);
  if (random.chance(0.42)) steps.push(listExport(random));
  if (random.chance(crashRate(day))) steps.push(['crashed', { module: pickModule(random, day) }]);
  if (day.trial !== null) steps.push(...listOffers(random, day.trial.isConverted));
  return steps;
}

function listExport(random: Random): Step {
  const format = random.weighted([
    ['pdf', 52],
    ['png', 24],
    ['svg', 17],
    ['eps', 7],
  ]);
  if (random.chance(0.04)) {
    const reason = random.weighted([
      ['disk_full', 2],
      ['font_missing', 5],
      ['permission', 3],
    ]);
    return ['export_failed', { format, reason }];
  }
  const pages = random.weighted([
    ['1', 60],
    ['2-5', 28],
    ['6-20', 10],
    ['more', 2],
  ]);
  return ['export_finished', { format, pages }];
}

/** Version 4.0.0 crashed when it loaded fonts; 4.0.1 repaired it. */
function crashRate({ version }: UsedDay): number {
  return version === '4.0.0' ? 0.085 : 0.008;
}

function pickModule(random: Random, { version }: UsedDay): string {
  if (version === '4.0.0' && random.chance(0.85)) return 'font-loader';
  return random.pick(['canvas', 'pdf-writer', 'tablet', 'updater']);
}

function pickTool(random: Random): string {
  return random.weighted([
    ['pen', 38],
    ['shape', 22],
    ['text', 16],
    ['brush', 14],
    ['knife', 6],
    ['mesh', 4],
  ]);
}

function pickTemplate(random: Random): string {
  return random.weighted([
    ['poster', 34],
    ['logo', 28],
    ['packaging', 20],
    ['map', 11],
    ['blank', 7],
  ]);
}

/** Of those who see the offer, some click; buyers nearly always did. */
function listOffers(random: Random, isConverted: boolean): Step[] {
  if (!random.chance(0.5)) return [];
  const place = random.weighted([
    ['export', 50],
    ['banner', 35],
    ['menu', 15],
  ]);
  const shown: Step = ['upgrade_shown', { place }];
  return random.chance(isConverted ? 0.6 : 0.07)
    ? [shown, ['upgrade_clicked', { place }]]
    : [shown];
}

/** A UUID of version 7 at a time. */
function createEventId(random: Random, atMs: number): string {
  const time = atMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.hex(3)}-8${random.hex(3)}-${random.hex(12)}`;
}

/** Stores events in the partitions of their days, and counts of dropped ones. */
export async function fillEvents(
  { context, nowMs, random }: World,
  events: Event[],
): Promise<void> {
  const { pool } = context;
  const today = dayOf(new Date(nowMs));
  for (let ago = USAGE_DAYS - 1; ago >= 0; ago -= 1)
    await createPartition(pool, addDays(today, -ago));
  const ordered = events.toSorted((one, other) => one.atMs - other.atMs);
  await Promise.all([
    insertRows(pool, 'event_ids', ID_COLUMNS, ordered, (event) => [
      event.id,
      receivedAt(event, nowMs),
    ]),
    insertRows(pool, 'events', COLUMNS, ordered, (event) => [
      event.id,
      receivedAt(event, nowMs),
      event.day.machine.installId,
      event.sessionId,
      event.name,
      new Date(event.atMs),
      event.day.version,
      event.day.machine.osVersion,
      event.props === null ? null : JSON.stringify(event.props),
    ]),
  ]);
  const drops = Array.from({ length: USAGE_DAYS }, (_, ago) => addDays(today, -ago)).flatMap(
    (day) => [
      { day, reason: 'duplicate' as const, events: random.integer(4, 30) },
      { day, reason: 'sharing_off' as const, events: random.integer(0, 12) },
      { day, reason: 'name' as const, events: random.chance(0.1) ? random.integer(1, 5) : 0 },
    ],
  );
  await addDrops(
    pool,
    drops.filter((drop) => drop.events > 0),
  );
}

/** Clients send events in batches, some seconds later. */
function receivedAt({ atMs }: Event, nowMs: number): Date {
  return new Date(Math.min(Math.ceil(atMs / 15_000) * 15_000, nowMs));
}

const ID_COLUMNS = { event_id: 'uuid', received_at: 'timestamptz' } as const;

const COLUMNS = {
  event_id: 'uuid',
  received_at: 'timestamptz',
  install_id: 'uuid',
  session_id: 'uuid',
  name: 'text',
  occurred_at: 'timestamptz',
  app_version: 'text',
  os_version: 'text',
  props: 'jsonb',
} as const;
