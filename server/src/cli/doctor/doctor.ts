/** `latchkey doctor`: checks of the configuration, the machine and the database. */
import { existsSync } from 'node:fs';

import type { Config } from '#server/config/config.ts';
import { readConfiguration } from '#server/config/load.ts';
import { clusterDirectory } from '#server/config/data-directory.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import { command } from '../command.ts';
import { paint } from '../output.ts';
import { withDatabase } from '../with-context.ts';
import { checkDatabase, reportNoDatabase } from './check-database.ts';
import {
  checkCatalog,
  checkDataDirectory,
  checkDiskSpace,
  checkPort,
  checkPublicUrl,
  checkSettings,
} from './check-installation.ts';
import { failure, type Finding, ok } from './finding.ts';

export const doctorCommand = command({
  name: 'doctor',
  description:
    'Check the configuration, the machine and the database, and print symptom, cause and fix of each problem. Changes nothing; the exit code is 1 if a check failed.',
  examples: { doctor: 'When something does not work', 'doctor --json': 'For monitoring' },
  async run() {
    const findings = await runChecks();
    const healthy = findings.every((finding) => finding.status !== 'failed');
    const text = findings.map(formatFinding).join('\n');
    return { json: { healthy, findings }, text, failed: !healthy };
  },
});

/** Runs every check; an error in one is reported as a finding, and the others still run. */
async function runChecks(): Promise<readonly Finding[]> {
  const reading = readConfiguration();
  const { config, problems } = reading;
  const checks: readonly (() => Finding | Finding[] | Promise<Finding | Finding[]>)[] = [
    () => checkSettings(reading),
    () => checkCatalog(config.catalogPath),
    () => checkPublicUrl(reading),
    () => checkDataDirectory(config),
    () => checkDiskSpace(config),
    () => checkPort(config),
    ...(problems.length === 0 ? [() => openAndCheckDatabase(config)] : []),
  ];
  const findings: Finding[] = [];
  for (const check of checks) {
    try {
      findings.push(...[await check()].flat());
    } catch (error) {
      findings.push(reportFailedCheck(error));
    }
  }
  return findings;
}

/** Changes nothing, so it does not create the embedded database. */
async function openAndCheckDatabase(config: Config): Promise<Finding[]> {
  if (config.database.kind === 'embedded' && !existsSync(clusterDirectory(config.dataDirectory))) {
    return [ok('database', 'The first start creates the embedded one.')];
  }
  try {
    return await withDatabase(({ pool, secrets }) => checkDatabase(pool, config, secrets));
  } catch (error) {
    return reportNoDatabase(error);
  }
}

function reportFailedCheck(error: unknown): Finding {
  return failure('doctor', {
    code: 'doctor.check_failed',
    symptom: 'A check failed with an error.',
    cause: messageOf(error),
    fix: 'Run latchkey doctor as the user that runs the service.',
  });
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
