/** Compares everything that the service acknowledged with its database. */
import { toMachineKey } from '#server/features/usage/machine-key.ts';
import { createVault } from '#server/lib/vault.ts';

import { credentialsOf } from '../../bench/lib/credentials.ts';
import { idOfEvent, sizeOfBatch } from '../load/actors/events.ts';
import { addressOfSubscriber } from '../load/actors/mails.ts';
import { createCheck, numbersOf, sumChunks, type Check } from './check.ts';
import { listAcknowledged, pick, readRow, sum, type AuditOptions } from './compare.ts';
import { checkKeyMails, checkOutreach } from './mails.ts';
import { checkActivations, checkBuyerValidations, checkKeys, checkPayments } from './purchases.ts';
import * as statements from './statements.ts';

/** Runs every check, one after the other. */
export async function audit(options: AuditOptions): Promise<Check[]> {
  const checks: Check[] = [];
  for (const check of [
    checkValidations,
    checkBuyerValidations,
    checkHeartbeats,
    checkEvents,
    checkTrials,
    checkPayments,
    checkKeys,
    checkActivations,
    checkSubscribers,
    checkKeyMails,
    checkOutreach,
  ]) {
    checks.push(await check(options));
  }
  return checks;
}

async function checkValidations({ ledger, pool }: AuditOptions): Promise<Check> {
  const { acknowledged, size, unanswered } = ledger.validations;
  const found = await sumChunks(size, async (indexes) =>
    readRow(pool, statements.compareValidations, [
      indexes.map((index) => credentialsOf(index).activationId),
      pick(acknowledged, indexes),
      pick(unanswered, indexes),
    ]),
  );
  const numbers = { planned: size, compared: sum(acknowledged) };
  return createCheck('Every acknowledged validation is counted once', numbers, [
    [found.missing ?? 0, 'activations are missing or inactive'],
    [found.lost ?? 0, 'activations count fewer validations than were acknowledged'],
    [found.surplus ?? 0, 'activations count more validations than were requested'],
  ]);
}

async function checkHeartbeats({ ledger, masterSecret, pool }: AuditOptions): Promise<Check> {
  const vault = createVault(masterSecret);
  const { acknowledged, size, unanswered } = ledger.heartbeats;
  const found = await sumChunks(size, async (indexes) =>
    readRow(pool, statements.compareHeartbeats, [
      indexes.map((index) => toMachineKey(vault, credentialsOf(index).machineId)),
      pick(acknowledged, indexes),
      pick(unanswered, indexes),
    ]),
  );
  const numbers = { planned: size, compared: sum(acknowledged) };
  return createCheck('Every acknowledged heartbeat is counted once', numbers, [
    [found.missing ?? 0, 'machines have no day of use'],
    [found.lost ?? 0, 'machines have fewer heartbeats than were acknowledged'],
    [found.surplus ?? 0, 'machines have more heartbeats than were sent'],
  ]);
}

async function checkEvents({ ledger: { eventBatches }, pool }: AuditOptions): Promise<Check> {
  const { missing = 0 } = await sumChunks(eventBatches.size, async (batches) =>
    readRow(pool, statements.compareEvents, [
      listAcknowledged(eventBatches, batches).flatMap(listEventIds),
    ]),
  );
  const all = Array.from({ length: eventBatches.size }, (_, batch) => batch);
  const possible = sum(all.filter((batch) => eventBatches.isPossible(batch)).map(sizeOfBatch));
  const acknowledged = sum(listAcknowledged(eventBatches, all).map(sizeOfBatch));
  const stored = await readRow(pool, statements.countEvents);
  const numbers = { planned: sum(all.map(sizeOfBatch)), compared: acknowledged };
  return createCheck('Every acknowledged event is stored exactly once', numbers, [
    [eventBatches.countUnacknowledged(), 'batches were never acknowledged'],
    [missing, 'acknowledged events are missing'],
    [(stored?.stored ?? 0) - (stored?.different ?? 0), 'events are stored twice'],
    [stored?.unmatched ?? 0, 'events have no id in event_ids, or the reverse'],
    [Math.max(0, (stored?.stored ?? 0) - possible), 'events are stored that were not sent'],
  ]);
}

function listEventIds(batch: number): string[] {
  return Array.from({ length: sizeOfBatch(batch) }, (_, position) => idOfEvent(batch, position));
}

async function checkTrials({ ledger, pool }: AuditOptions): Promise<Check> {
  const { trialActivations, trials } = ledger;
  const { missing = 0 } = await sumChunks(trials.size, async (indexes) =>
    readRow(pool, statements.compareTrials, [
      listAcknowledged(trials, indexes).map((index) => trialActivations.get(index)),
    ]),
  );
  const stored = (await readRow(pool, statements.countTrials)) ?? { trials: 0, machines: 0 };
  return createCheck(
    'Every machine has at most one trial, and every acknowledged one',
    numbersOf(trials),
    [
      [trials.countUnacknowledged(), 'trials were never acknowledged'],
      [missing, 'acknowledged trials are missing'],
      [stored.trials - stored.machines, 'machines have a second trial'],
      [Math.max(0, stored.trials - trials.countPossible()), 'trials exist without a request'],
    ],
  );
}

async function checkSubscribers({ ledger: { subscriptions }, pool }: AuditOptions): Promise<Check> {
  const found = await sumChunks(subscriptions.size, async (indexes) =>
    readRow(pool, statements.compareSubscribers, [
      listAcknowledged(subscriptions, indexes).map(addressOfSubscriber),
    ]),
  );
  return createCheck('Every acknowledged subscriber is stored once', numbersOf(subscriptions), [
    [subscriptions.countUnacknowledged(), 'subscriptions were never acknowledged'],
    [found.missing ?? 0, 'acknowledged subscribers are missing'],
    [found.surplus ?? 0, 'subscribers are stored twice'],
  ]);
}
