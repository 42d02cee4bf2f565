/** `latchkey doctor`: checks of the configuration, the machine and the database. */
import { existsSync } from 'node:fs';

import { systemClock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { clusterDirectory } from '#server/config/data-directory.ts';
import { readConfiguration } from '#server/config/load.ts';
import { readInterruptedUpgrade } from '#server/db/embedded/interrupted-upgrade.ts';
import { checkDatabase, reportNoDatabase } from '#server/features/doctor/check-database.ts';
import { checkRedis } from '#server/features/doctor/check-redis.ts';
import { type Finding, ok } from '#server/features/doctor/finding.ts';
import { listInstallationChecks, runChecks } from '#server/features/doctor/run-checks.ts';
import { createVault } from '#server/lib/vault.ts';

import { command } from '../command.ts';
import { paint } from '../output.ts';
import { withDatabase } from '../with-context.ts';
import { checkPort } from './check-port.ts';

export const doctorCommand = command({
  name: 'doctor',
  description:
    'Check the configuration, the machine and the database, and print symptom, cause and fix of each problem. Changes nothing; the exit code is 1 if a check failed.',
  examples: { doctor: 'When something does not work', 'doctor --json': 'For monitoring' },
  async run() {
    const findings = await runAll();
    const healthy = findings.every((finding) => finding.status !== 'failed');
    const text = findings.map(formatFinding).join('\n');
    return { json: { healthy, findings }, text, failed: !healthy };
  },
});

async function runAll(): Promise<readonly Finding[]> {
  const reading = readConfiguration();
  const { config, environment, problems } = reading;
  return runChecks([
    ...listInstallationChecks(config, reading),
    () => checkPort(config),
    () => checkRedis(environment.redisUrl ?? null),
    ...(problems.length === 0 ? [() => openAndCheckDatabase(config)] : []),
  ]);
}

/** Changes nothing, so it does not create the embedded database. */
async function openAndCheckDatabase(config: Config): Promise<Finding[]> {
  if (config.database.kind === 'embedded' && !(await hasCluster(config.dataDirectory))) {
    return [ok('database', 'The first start creates the embedded one.')];
  }
  try {
    return await withDatabase(({ pool, replica, secrets }) =>
      checkDatabase({
        pool,
        replica,
        config,
        secrets,
        clock: systemClock,
        vault: createVault(secrets.master, secrets.previousMasters),
      }),
    );
  } catch (error) {
    return reportNoDatabase(error);
  }
}

async function hasCluster(dataDirectory: string): Promise<boolean> {
  if (existsSync(clusterDirectory(dataDirectory))) return true;
  return (await readInterruptedUpgrade(dataDirectory)) !== null;
}

const marks = {
  ok: ['green', '✓'],
  warning: ['yellow', '!'],
  failed: ['red', '✗'],
} as const;

function formatFinding({ check, status, symptom, cause, fix }: Finding): string {
  const [colour, mark] = marks[status];
  const lines = [`${paint(colour, mark)} ${paint('bold', check)}: ${symptom}`];
  if (cause !== undefined) lines.push(`    cause: ${cause}`);
  if (fix !== undefined) lines.push(`    fix:   ${fix}`);
  return lines.join('\n');
}
