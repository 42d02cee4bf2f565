/**
 * Measures the service over HTTP, on its embedded PostgreSQL with everything durable, and prints each result as a ratio
 * to another result of the same run, because absolute numbers depend on the machine.
 *
 *   npm run bench               everything: about half an hour
 *   npm run bench -- --quick    the same with fewer activations and shorter loads: a few minutes
 *   npm run bench -- --validate only validations, and the memory after them: a quarter of an hour
 *   npm run bench -- --events   events in batches, with ids of version 4 and 7, against COPY: four minutes
 *   npm run bench -- --citus    events and usage spread over two workers of Citus against one server: ten minutes; needs Citus
 *   npm run bench -- --workers  validations with one process and with one and two workers: five minutes; needs wrk
 *   npm run bench -- --console  every list and search of the operator interface, on a full database: a quarter of an hour;
 *                               --data=DIR keeps the database for further runs, --only=/licenses measures some operations,
 *                               and --queries=60 sends fewer queries
 *   npm run bench -- --payments purchases, renewals and plan changes at Paddle and Stripe; --against=DIR sends the same events
 *                               alternately to the version of another checkout: a minute or two
 *   npm run bench -- --revenue  reports of revenue over 1,000,000 payments, and counting these: a quarter of an hour;
 *                               --data=DIR keeps the database for further runs
 */
import { chmod, mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { describeDurability } from './lib/durability.ts';
import { describeMachine } from './lib/machine.ts';
import { startServiceProcess, seedDataDirectory } from './lib/processes.ts';
import { printMeasurements, printReport, type Measurement } from './lib/report.ts';
import { FULL, QUICK, type Scale } from './lib/scale.ts';
import { measureCitus } from './scenarios/citus.ts';
import { measureConsole, printConsole } from './scenarios/console.ts';
import { measureEvents } from './scenarios/events.ts';
import { measureGrowth } from './scenarios/growth.ts';
import { measureHeartbeats } from './scenarios/heartbeats.ts';
import { measureMemory } from './scenarios/memory.ts';
import { measureOutreach } from './scenarios/outreach.ts';
import { measurePayments, printPayments } from './scenarios/payments.ts';
import { measureReports } from './scenarios/reports.ts';
import { measureRevenue } from './scenarios/revenue.ts';
import { measureTrial } from './scenarios/trial.ts';
import {
  measureByConnections,
  printByConnections,
  type ConnectionTable,
} from './scenarios/validate-by-connections.ts';
import { measureValidate } from './scenarios/validate.ts';
import { measureWebhooks } from './scenarios/webhooks.ts';
import { measureWorkers, printWorkers } from './scenarios/workers.ts';

interface Measured {
  readonly measurements: readonly Measurement[];
  readonly byConnections: ConnectionTable;
  readonly durability: Readonly<Record<string, string>>;
}

async function run(measure: (root: string) => Promise<Measured>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  try {
    const measured = await measure(root);
    const report = { measuredAt: new Date().toISOString(), ...describeMachine(), ...measured };
    printReport(report);
    printByConnections(report.byConnections);
    await keep(report);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function measureAll(root: string, scale: Scale): Promise<Measured> {
  const few = join(root, 'few');
  const many = join(root, 'many');
  await seedDataDirectory(few, scale.fewActivations);
  const service = await startServiceProcess(few);
  const byConnections = await measureByConnections(service, scale);
  const measurements: Measurement[] = [
    ...(await measureValidate(service, scale)),
    ...(await measureTrial(service, scale)),
    ...(await measureHeartbeats(service, scale)),
    ...(await measureEvents(service, scale)),
    ...(await measureWebhooks(service, scale)),
  ];
  const durability = await describeDurability(few);
  await seedDataDirectory(many, scale.manyActivations);
  const large = await startServiceProcess(many);
  // The validations of the memory measurement also load the large tables into memory.
  measurements.push(...(await measureMemory(large, scale)));
  measurements.push(...(await measureGrowth({ few: service, many: large }, scale)));
  await Promise.all([service.stop(), large.stop()]);
  measurements.push(...(await measureOutreach(join(root, 'outreach'), scale)));
  measurements.push(...(await measureReports(join(root, 'reports'), scale)));
  return { measurements, byConnections, durability };
}

/** Measures memory first, on a new service. */
async function measureValidations(root: string, scale: Scale): Promise<Measured> {
  const directory = join(root, 'few');
  await seedDataDirectory(directory, scale.fewActivations);
  const fresh = await startServiceProcess(directory);
  const memory = await measureMemory(fresh, { ...scale, manyActivations: scale.fewActivations });
  await fresh.stop();
  const service = await startServiceProcess(directory);
  const byConnections = await measureByConnections(service, scale);
  const measurements = [...memory, ...(await measureValidate(service, scale))];
  const durability = await describeDurability(directory);
  await service.stop();
  return { measurements, byConnections, durability };
}

/** Measures the operator interface, and prints it. */
async function measureConsoleOnly(scale: Scale): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  try {
    const directory = values.data ?? temporary;
    const options = { scale: scale.console, queries: Number(values.queries), only: values.only };
    const load = loadavg().map((each) => each.toFixed(1));
    const { durability, rows } = await measureConsole(directory, options);
    const { cores, machine, memoryGigabytes, node } = describeMachine();
    const settings = Object.entries(durability).map((setting) => setting.join('='));
    console.log(`\n${machine}, ${cores} cores, ${memoryGigabytes} GB, Node ${node}`);
    console.log(`PostgreSQL: ${settings.join(', ')}`);
    console.log(
      `${values.queries} queries each, one after the other; load before ${load.join(' ')}\n`,
    );
    printConsole(rows);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Measures events against COPY and the empty route, and prints them. */
async function measureEventsOnly(scale: Scale): Promise<void> {
  await measureAlone(`Medians of ${scale.rounds} rounds`, async (root) => {
    const directory = join(root, 'events');
    await seedDataDirectory(directory, scale.fewActivations);
    const service = await startServiceProcess(directory);
    const measurements = await measureEvents(service, scale);
    await service.stop();
    return () => printMeasurements(measurements);
  });
}

/** Measures Citus against one server, and prints it. */
async function measureCitusOnly(scale: Scale): Promise<void> {
  await measureAlone('One coordinator, two workers', async (root) => {
    // The account of the database reads it.
    await chmod(root, 0o711);
    const measurements = await measureCitus(root, scale);
    return () => printMeasurements(measurements);
  });
}

/** Measures several processes behind one port, and prints them. */
async function measureWorkersOnly(scale: Scale): Promise<void> {
  await measureAlone(`Medians of ${scale.rounds} rounds; load: wrk, one thread`, async (root) => {
    const rounds = await measureWorkers(root, scale);
    return () => printWorkers(rounds);
  });
}

/** Measures in a temporary directory, and prints the results below the machine and its load before. */
async function measureAlone(
  heading: string,
  measure: (root: string) => Promise<() => void>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  try {
    const before = loadavg().map((each) => each.toFixed(1));
    const print = await measure(root);
    const { cores, machine, memoryGigabytes, node } = describeMachine();
    console.log(`\n${machine}, ${cores} cores, ${memoryGigabytes} GB, Node ${node}`);
    console.log(`${heading}; load before ${before.join(' ')}\n`);
    print();
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Measures the events of payment providers, and prints them. */
async function measurePaymentsOnly(): Promise<void> {
  const { against = null, quick } = values;
  const options = { against, buyers: quick ? 100 : 300, rounds: quick ? 3 : 9 };
  const heading = `${options.rounds} rounds of ${options.buyers} buyers`;
  await measureAlone(heading, async (root) => {
    const measured = await measurePayments(root, options);
    return () => printPayments(measured);
  });
}

/** Measures reports of revenue, and prints them. */
async function measureRevenueOnly(): Promise<void> {
  const payments = values.quick ? 50_000 : 1_000_000;
  await measureAlone('Each report 100 times, sequentially', async (root) => {
    const directory = values.data ?? join(root, 'revenue');
    const measurements = await measureRevenue(directory, { payments, rounds: 100 });
    return () => printMeasurements(measurements);
  });
}

async function keep(report: { readonly measuredAt: string }): Promise<void> {
  const directory = new URL('./results/', import.meta.url);
  await mkdir(directory, { recursive: true });
  const file = new URL(`${report.measuredAt.replaceAll(':', '-')}.json`, directory);
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`\nWritten to ${file.pathname}`);
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    validate: { type: 'boolean', default: false },
    events: { type: 'boolean', default: false },
    citus: { type: 'boolean', default: false },
    workers: { type: 'boolean', default: false },
    console: { type: 'boolean', default: false },
    revenue: { type: 'boolean', default: false },
    payments: { type: 'boolean', default: false },
    against: { type: 'string' },
    data: { type: 'string' },
    only: { type: 'string', default: '' },
    queries: { type: 'string', default: '200' },
  },
});
const scale = values.quick ? QUICK : FULL;
if (values.events) await measureEventsOnly(scale);
else if (values.citus) await measureCitusOnly(scale);
else if (values.workers) await measureWorkersOnly(scale);
else if (values.revenue) await measureRevenueOnly();
else if (values.payments) await measurePaymentsOnly();
else if (values.console) await measureConsoleOnly(scale);
else await run((root) => (values.validate ? measureValidations : measureAll)(root, scale));
