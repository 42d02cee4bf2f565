import { TrialStartResponse } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { trialBody } from '../../../bench/lib/bodies.ts';
import type { Answer } from '../http-client.ts';
import { OTHER_CLIENTS, type LoadContext } from './actor.ts';

/** Every fourth machine asks again after its answer. */
const REPEATED_EVERY = 4;

/** Starts the trial of a machine until it is acknowledged. */
export async function startTrial(
  context: LoadContext,
  trial: number,
  dueAt: number,
): Promise<void> {
  const request = {
    path: '/api/v1/trial/start',
    body: trialBody(`soak-${trial}`),
    client: OTHER_CLIENTS + trial,
  };
  const read = (answer: Answer): void => recordTrial(context, trial, answer);
  const answer = await context.client.sendUntilAnswered(
    'trial',
    () => ({ ...request, dueAt }),
    read,
  );
  if (answer.acknowledgement === 'acknowledged' && trial % REPEATED_EVERY === 0) {
    read(await context.client.send('trial', request));
  }
}

function recordTrial(
  { ledger, violations }: LoadContext,
  trial: number,
  { acknowledgement, text }: Answer,
): void {
  ledger.trials.record(trial, acknowledgement);
  if (acknowledgement !== 'acknowledged') return;
  const { activation_id: id } = Parse(TrialStartResponse, JSON.parse(text));
  const known = ledger.trialActivations.get(trial);
  if (known !== null && known !== id) violations.add('a machine was granted a second trial');
  ledger.trialActivations.set(trial, id);
}
