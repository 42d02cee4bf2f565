/**
 * Measures the service over HTTP, on its embedded PostgreSQL with everything durable, and prints each figure as a ratio
 * to another figure of the same run: absolute numbers say more about the machine than about the program.
 *
 *   npm run bench               everything: about half an hour
 *   npm run bench -- --quick    the same with fewer activations and shorter loads: a few minutes
 */
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { describeDurability } from './lib/durability.ts';
import { describeMachine } from './lib/machine.ts';
import { startServiceProcess, seedDataDirectory } from './lib/processes.ts';
import { printReport, type Figure } from './lib/report.ts';
import { FULL, QUICK, type Scale } from './lib/scale.ts';
import { measureEvents } from './scenarios/events.ts';
import { measureGrowth } from './scenarios/growth.ts';
import { measureHeartbeats } from './scenarios/heartbeats.ts';
import { measureMemory } from './scenarios/memory.ts';
import { measureOutreach } from './scenarios/outreach.ts';
import { measureReports } from './scenarios/reports.ts';
import { measureTrial } from './scenarios/trial.ts';
import { measureValidate } from './scenarios/validate.ts';
import { measureWebhooks } from './scenarios/webhooks.ts';

async function run(scale: Scale): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  const few = join(root, 'few');
  const many = join(root, 'many');
  try {
    await seedDataDirectory(few, scale.fewActivations);
    const service = await startServiceProcess(few);
    const figures: Figure[] = [
      ...(await measureValidate(service, scale)),
      ...(await measureTrial(service, scale)),
      ...(await measureHeartbeats(service, scale)),
      ...(await measureEvents(service, scale)),
      ...(await measureWebhooks(service, scale)),
    ];
    const durability = await describeDurability(few);
    await seedDataDirectory(many, scale.manyActivations);
    const large = await startServiceProcess(many);
    // The validations that the memory is measured by bring the large tables into memory, too.
    figures.push(...(await measureMemory(large, scale)));
    figures.push(...(await measureGrowth({ few: service, many: large }, scale)));
    await Promise.all([service.stop(), large.stop()]);
    figures.push(...(await measureOutreach(join(root, 'outreach'), scale)));
    figures.push(...(await measureReports(join(root, 'reports'), scale)));
    const report = {
      measuredAt: new Date().toISOString(),
      ...describeMachine(),
      durability,
      figures,
    };
    printReport(report);
    await keep(report);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function keep(report: { readonly measuredAt: string }): Promise<void> {
  const directory = new URL('./results/', import.meta.url);
  await mkdir(directory, { recursive: true });
  const file = new URL(`${report.measuredAt.replaceAll(':', '-')}.json`, directory);
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`\nWritten to ${file.pathname}`);
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
await run(values.quick ? QUICK : FULL);
