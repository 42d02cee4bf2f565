import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { nameOf, SECRETS } from '../../soak/year/writers/delivery.ts';
import { PLANS, type Plan } from '../../soak/year/happenings.ts';
import { withDatabase } from '../lib/database.ts';
import { deliverEvents } from '../lib/deliver-events.ts';
import { startServiceProcess, type ServiceProcess } from '../lib/processes.ts';
import { readChildMilliseconds, readThreadMilliseconds } from '../lib/processor-time.ts';
import { median, printProgress } from '../lib/report.ts';
import { STEPS, writeSubscription, type Step } from '../lib/subscription-events.ts';

const PROVIDERS = ['paddle', 'stripe'] as const;

/** Connections of each provider. */
const CONNECTIONS = 32;

/** V8 compiles hot code for thousands of events, and PostgreSQL plans its statements anew at first. */
const WARM_UP_ROUNDS = 4;

interface Options {
  /** Half of them at each provider. */
  readonly buyers: number;
  readonly rounds: number;
  /** The checkout of another version to compare with; null: this version only. */
  readonly against: string | null;
}

/** The events of a step of a round, at one version. */
export interface PaymentRound {
  readonly step: Step;
  readonly version: string;
  readonly eventsPerSecond: number;
  /** Processor time of an event in milliseconds. */
  readonly service: number;
  readonly database: number;
}

/** Sends the same events of subscriptions to this version and to another one alternately. */
export async function measurePayments(root: string, options: Options): Promise<PaymentRound[]> {
  const versions = await startVersions(root, options.against);
  const rounds: PaymentRound[] = [];
  try {
    for (let round = 0; round < WARM_UP_ROUNDS + options.rounds; round++) {
      printProgress(`round ${round + 1} of ${WARM_UP_ROUNDS + options.rounds}`);
      const order = round % 2 === 0 ? versions : versions.toReversed();
      const measured = await measureRound(order, round, options.buyers);
      if (round >= WARM_UP_ROUNDS) rounds.push(...measured);
    }
    await requireSameLicenses(versions, options);
    return rounds;
  } finally {
    await Promise.all(versions.map(({ service }) => service.stop()));
  }
}

interface Version {
  readonly name: string;
  readonly service: ServiceProcess;
}

async function startVersions(root: string, against: string | null): Promise<Version[]> {
  const catalog = join(root, 'catalog.yaml');
  await writeFile(catalog, CATALOG);
  const settings = {
    LATCHKEY_CATALOG: catalog,
    LATCHKEY_BILLING_SECRETS: SECRETS.paddle,
    LATCHKEY_STRIPE_SECRETS: SECRETS.stripe,
  };
  const start = async (name: string, checkout?: string): Promise<Version> => {
    const directory = join(root, name);
    await mkdir(directory);
    return { name, service: await startServiceProcess(directory, settings, checkout) };
  };
  return against === null
    ? [await start('now')]
    : [await start('before', against), await start('now')];
}

async function measureRound(
  versions: readonly Version[],
  round: number,
  buyers: number,
): Promise<PaymentRound[]> {
  const ofProvider = PROVIDERS.map((provider, index) =>
    Array.from({ length: buyers / PROVIDERS.length }, (_, number) =>
      writeSubscription(1_000_000 * (round * PROVIDERS.length + index + 1) + number, provider),
    ),
  );
  const measured: PaymentRound[] = [];
  for (const step of STEPS) {
    for (const { name, service } of versions) {
      const events = ofProvider.map((each) => each.map((steps) => steps.get(step) ?? []));
      const count = events.flat(2).length;
      const before = readUsage(service);
      await Promise.all(events.map((each) => deliverEvents(service.target, each, CONNECTIONS)));
      const after = readUsage(service);
      measured.push({
        step,
        version: name,
        eventsPerSecond: (count * 1000) / (after.at - before.at),
        service: difference(before.service, after.service) / count,
        database: difference(before.database, after.database) / count,
      });
    }
  }
  return measured;
}

function readUsage({ pid, dataDirectory }: ServiceProcess) {
  const postmaster = readFileSync(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8');
  return {
    at: performance.now(),
    service: readThreadMilliseconds(pid),
    database: readChildMilliseconds(Number(postmaster.split('\n')[0])),
  };
}

function difference(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): number {
  const growths = [...after].map(([id, time]) => Math.max(0, time - (before.get(id) ?? 0)));
  return growths.reduce((sum, each) => sum + each, 0);
}

/** A version that did less is not faster. */
async function requireSameLicenses(
  versions: readonly Version[],
  { buyers, rounds }: Options,
): Promise<void> {
  const expected = buyers * (WARM_UP_ROUNDS + rounds);
  for (const { name, service } of versions) {
    const changed = await withDatabase(service.dataDirectory, async (pool) => {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::integer as count from licenses
         where product_id = 'team' and expires_at > now() - interval '60 days'`,
      );
      return rows[0]?.count;
    });
    if (changed !== expected) throw new Error(`${name} has ${changed} of ${expected} licenses`);
  }
}

/** Prints the median of each step and version, and the median of the ratios of pairs. */
export function printPayments(rounds: readonly PaymentRound[]): void {
  for (const step of STEPS) {
    const ofStep = Map.groupBy(
      rounds.filter((each) => each.step === step),
      ({ version }) => version,
    );
    console.log(step);
    for (const [version, measured] of ofStep)
      console.log(`  ${version.padEnd(8)}${describe(measured)}`);
    const [now, before] = [ofStep.get('now'), ofStep.get('before')];
    if (now !== undefined && before !== undefined) console.log(`  ratio   ${compare(now, before)}`);
  }
}

const FIGURES = ['eventsPerSecond', 'service', 'database'] as const;

function describe(measured: readonly PaymentRound[]): string {
  const [events, service, database] = FIGURES.map((figure) =>
    median(measured.map((each) => each[figure])),
  );
  return `${events?.toFixed(0)} events/s, service ${service?.toFixed(3)} ms, PostgreSQL ${database?.toFixed(3)} ms an event`;
}

function compare(now: readonly PaymentRound[], before: readonly PaymentRound[]): string {
  const ratios = FIGURES.map((figure) => {
    const ofPairs = now
      .map((each, index) => each[figure] / (before[index]?.[figure] ?? Number.NaN))
      .toSorted((a, b) => a - b);
    const range = `${ofPairs.at(0)?.toFixed(2)}–${ofPairs.at(-1)?.toFixed(2)}`;
    return `${median(ofPairs).toFixed(2)} (${range})`;
  });
  return `events/s ${ratios[0]}, service ${ratios[1]}, PostgreSQL ${ratios[2]}`;
}

const CATALOG = `key_prefix: LK
trial: { product: personal, features: [] }
products:
${writeProduct('personal', [])}${writeProduct('pro', [PLANS.month])}${writeProduct('team', [PLANS.team])}`;

function writeProduct(id: string, plans: readonly Plan[]): string {
  const prices = plans.map(nameOf.price);
  return `  - id: ${id}
    name: ${id}
    product_type: ${id}
    tier: ${id}
    features: [history, gpu]
    max_activations: 2
    prices:
      paddle: ${JSON.stringify(prices)}
      stripe: ${JSON.stringify(prices.map((price) => price.replace('pri_', 'price_')))}
`;
}
