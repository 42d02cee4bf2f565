import type { DoctorReport } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Vault } from '#server/lib/vault.ts';

import { checkDatabase } from './check-database.ts';
import { checkRedis } from './check-redis.ts';
import type { Finding } from './finding.ts';
import { listInstallationChecks, runChecks } from './run-checks.ts';

export interface DoctorDependencies {
  readonly pool: Pool;
  readonly replica: Pool | null;
  readonly clock: Clock;
  readonly config: Config;
  readonly vault: Vault;
  readonly installation: {
    /** Of the settings, at the start. */
    readonly warnings: readonly string[];
    readonly smtpUrl: string | null;
    readonly databaseUrl: string | null;
    readonly replicaUrl: string | null;
    readonly redisUrl: string | null;
    readonly paddleApiKey: string | null;
  };
}

/** Some checks take a connection to the mail relay. */
const SHARED_FOR_MS = 10_000;

/** Runs the checks of `latchkey doctor` in the service, except that of the port, on which it answers. */
export class Doctor {
  readonly #deps: DoctorDependencies;
  #last: { readonly atMs: number; readonly report: Promise<DoctorReport> } | null = null;

  constructor(deps: DoctorDependencies) {
    this.#deps = deps;
  }

  /** Calls at nearly the same time share one run. */
  examine(): Promise<DoctorReport> {
    const atMs = this.#deps.clock.now().getTime();
    if (this.#last !== null && Math.abs(atMs - this.#last.atMs) < SHARED_FOR_MS) {
      return this.#last.report;
    }
    const report = this.#run();
    this.#last = { atMs, report };
    return report;
  }

  async #run(): Promise<DoctorReport> {
    const { config, installation } = this.#deps;
    // A service with problems in its settings does not start.
    const reading = { problems: [], warnings: installation.warnings };
    const findings = await runChecks([
      ...listInstallationChecks(config, reading),
      () => checkRedis(installation.redisUrl),
      () => checkDatabase({ ...this.#deps, secrets: installation }),
    ]);
    return {
      checked_at: this.#deps.clock.now().toISOString(),
      healthy: findings.every(({ status }) => status !== 'failed'),
      findings: findings.map(viewFinding),
    };
  }
}

function viewFinding(finding: Finding): DoctorReport['findings'][number] {
  const { check, status, code = null, symptom, cause = null, fix = null } = finding;
  return { check, status, code, symptom, cause, fix };
}
