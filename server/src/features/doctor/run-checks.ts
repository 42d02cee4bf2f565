/** Feature: checks of the configuration, the machine and the database, each with symptom, cause and fix. */
import type { Config } from '#server/config/config.ts';
import type { ConfigurationReading } from '#server/config/load.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import {
  checkCatalog,
  checkDataDirectory,
  checkDiskSpace,
  checkOperatorSignIn,
  checkPublicUrl,
  checkSettings,
} from './check-installation.ts';
import { failure, type Finding } from './finding.ts';

/** Changes nothing. */
export type Check = () => Finding | Finding[] | Promise<Finding | Finding[]>;

/** Returns the checks that need no database. */
export function listInstallationChecks(
  config: Config,
  reading: Pick<ConfigurationReading, 'problems' | 'warnings'>,
): readonly Check[] {
  return [
    () => checkSettings(reading),
    () => checkCatalog(config.catalogPath),
    () => checkPublicUrl(config),
    () => checkOperatorSignIn(config),
    () => checkDataDirectory(config),
    () => checkDiskSpace(config),
  ];
}

/** Runs checks; an error in one is reported as a finding, and the others still run. */
export async function runChecks(checks: readonly Check[]): Promise<readonly Finding[]> {
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

function reportFailedCheck(error: unknown): Finding {
  return failure('doctor', {
    code: 'doctor.check_failed',
    symptom: 'A check failed with an error.',
    cause: messageOf(error),
    fix: 'Run latchkey doctor as the user that runs the service.',
  });
}
