import { TrialStartRequest, TrialStartResponse, ref } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { limitStorage, type StorageLimits } from '#server/http/limit-rate.ts';

import { startTrial, type TrialDependencies } from './start-trial.ts';
import { TRIAL_DAYS } from './trial.ts';

export const startTrialOperation = {
  operationId: 'startTrial',
  tags: ['trial'],
  summary: 'Start the trial of a machine, or get the existing one',
  description: 'Seven days, granted once per machine; a repeated request returns the same trial.',
  body: ref(TrialStartRequest),
  response: { 200: ref(TrialStartResponse, 'The trial, also when it has expired.') },
  problems: ['rate_limited'],
} satisfies FastifySchema;

const DAY_MS = 86_400_000;

/** A trial's license, key, activation and, at most, 85 claims, with their index entries. */
const TRIAL_BYTES = 16 * 1024;

interface TrialRouteDependencies extends TrialDependencies {
  readonly storage: StorageLimits;
}

/** Registers the operation that starts a trial. */
export function registerTrialRoutes(app: App, deps: TrialRouteDependencies): void {
  app.post(
    '/api/v1/trial/start',
    { onRequest: limitNewTrials(deps), schema: startTrialOperation },
    ({ body, clientNetwork }) => startTrialWithinQuota(deps, body, clientNetwork),
  );
}

async function startTrialWithinQuota(
  deps: TrialRouteDependencies,
  body: TrialStartRequest,
  network: string,
): Promise<TrialStartResponse> {
  const startedAt = deps.clock.now();
  const trial = await startTrial(deps, body);
  const bytes = isNew(trial, startedAt) ? TRIAL_BYTES : 0;
  deps.storage.quota.charge(network, bytes, startedAt.getTime());
  return trial;
}

/** A trial that was granted before the request ends earlier, unless it was extended. */
function isNew({ expires_at: expiresAt }: TrialStartResponse, startedAt: Date): boolean {
  return new Date(expiresAt).getTime() >= startedAt.getTime() + TRIAL_DAYS * DAY_MS;
}

function limitNewTrials({ clock, metrics, storage: limits }: TrialRouteDependencies) {
  const onRefusal = (code: string): void => metrics.countRefusal('trial', code);
  return limitStorage({ limits, clock, needsDisk: false, onRefusal });
}
