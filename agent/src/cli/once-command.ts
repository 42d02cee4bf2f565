import { setTimeout as wait } from 'node:timers/promises';

import type { AgentSnapshot } from '@latchkey/contract';
import { Command } from 'commander';

import { systemClock } from '../clock.ts';
import { readHost } from '../collect/host.ts';
import { openCollectors } from '../collectors.ts';
import { createLog } from '../log.ts';
import { MountProber } from '../probe/mount-prober.ts';
import { BackgroundReader } from '../read/background-reader.ts';
import { machineRoots } from '../roots.ts';
import { openSampler } from '../sample.ts';
import { endProcess } from './run-command.ts';
import { commandProcess } from './command-process.ts';
import { jsonOption, type OutputOptions, printResult, withExamples } from './output.ts';
import { formatSnapshot } from './snapshot-table.ts';

/** Rates need two samples. */
const PAUSE_MS = 1_000;

export function onceCommand(): Command {
  const command = new Command('once')
    .description('Collect figures of this machine for a second and print them.')
    .addOption(jsonOption())
    .action(printOnce);
  return withExamples(command, [
    ['once', 'The present figures of this machine'],
    ['once --json | jq .memory.usage_ratio', 'One figure, for a program'],
  ]);
}

async function printOnce(options: OutputOptions): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error(`Only Linux is supported, not ${process.platform}.`);
  const prober = new MountProber(systemClock.monotonicMs);
  const reader = new BackgroundReader(systemClock.monotonicMs);
  const snapshot = await sampleTwice(prober, reader);
  printResult(options, snapshot, () => formatSnapshot(readHost(machineRoots), snapshot));
  if (prober.isStuck() || reader.isStuck()) endProcess(0);
  prober.close();
  reader.close();
}

async function sampleTwice(prober: MountProber, reader: BackgroundReader): Promise<AgentSnapshot> {
  const log = createLog((line) => void commandProcess().stderr.write(line));
  const collectors = openCollectors(machineRoots, { prober, reader });
  const sampler = openSampler(collectors, systemClock, log);
  sampler.sample();
  await wait(PAUSE_MS);
  const snapshot = sampler.sample();
  sampler.close();
  return snapshot;
}
