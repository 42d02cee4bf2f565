/** Compares everything that the service acknowledged with its database. */
import type { Pool } from 'pg';

import { queryRows, type Parameter, type Statement } from '#server/db/statement.ts';
import { toMachineKey } from '#server/features/usage/machine-key.ts';
import { createVault } from '#server/lib/vault.ts';
import type { Static, TObject } from 'typebox';

import { credentialsOf } from '../../bench/lib/credentials.ts';
import type { Counters, Facts } from '../ledger/counters.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { idOfEvent, sizeOfBatch } from '../load/actors/events.ts';
import { addressOfSubscriber } from '../load/actors/mails.ts';
import { idOfPurchase } from '../load/actors/purchases.ts';
import { createCheck, sumChunks, type Check } from './check.ts';
import * as statements from './statements.ts';

/** Statements of the auditor read whole tables. */
const TIMEOUT_MS = 120_000;

interface AuditOptions {
  readonly pool: Pool;
  readonly ledger: Ledger;
  readonly masterSecret: string;
  /** How many e-mails with keys may have been sent twice, because a fault lost that they were sent. */
  readonly repeatedMails: number;
}

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
    checkActivations,
    checkSubscribers,
    checkKeyMails,
  ]) {
    checks.push(await check(options));
  }
  return [...checks, checkOutreach(options)];
}

async function read<Row extends TObject>(
  pool: Pool,
  statement: Statement<Row>,
  parameters: readonly Parameter[] = [],
): Promise<Static<Row> | null> {
  const [row] = await queryRows(pool, statement, parameters, TIMEOUT_MS);
  return row ?? null;
}

const listAcknowledged = (facts: Facts, indexes: readonly number[]): number[] =>
  indexes.filter((index) => facts.isAcknowledged(index));

const pick = (counts: Uint16Array, indexes: readonly number[]): number[] =>
  indexes.map((index) => counts[index] ?? 0);

const sum = (counts: Iterable<number>): number =>
  Array.from(counts).reduce((all, each) => all + each, 0);

async function checkValidations({ ledger, pool }: AuditOptions): Promise<Check> {
  const { acknowledged, size, unanswered } = ledger.validations;
  const found = await sumChunks(size, async (indexes) =>
    read(pool, statements.compareValidations, [
      indexes.map((index) => credentialsOf(index).activationId),
      pick(acknowledged, indexes),
      pick(unanswered, indexes),
    ]),
  );
  return createCheck('Every acknowledged validation is counted once', sum(acknowledged), [
    [found.missing ?? 0, 'activations are missing or inactive'],
    [found.lost ?? 0, 'activations count fewer validations than were acknowledged'],
    [found.surplus ?? 0, 'activations count more validations than were requested'],
  ]);
}

async function checkBuyerValidations({ ledger, pool }: AuditOptions): Promise<Check> {
  const { activationIds, buyerValidations, deactivations } = ledger;
  const known = listKnown(ledger).filter((index) => !deactivations.isPossible(index));
  const found = await read(pool, statements.compareValidations, [
    known.map((index) => activationIds.get(index)),
    pick(buyerValidations.acknowledged, known),
    pick(buyerValidations.unanswered, known),
  ]);
  const compared = sum(buyerValidations.acknowledged);
  return createCheck('The same on licenses that were bought during the day', compared, [
    [found?.missing ?? 0, 'activations are missing or inactive'],
    [found?.lost ?? 0, 'activations count fewer validations than were acknowledged'],
    [found?.surplus ?? 0, 'activations count more validations than were requested'],
  ]);
}

/** Lists the purchases whose activation was acknowledged. */
function listKnown({ activationIds }: Ledger): number[] {
  return Array.from({ length: activationIds.size }, (_, index) => index).filter(
    (index) => activationIds.get(index) !== null,
  );
}

async function checkHeartbeats({ ledger, masterSecret, pool }: AuditOptions): Promise<Check> {
  const vault = createVault(masterSecret);
  const { acknowledged, size, unanswered }: Counters = ledger.heartbeats;
  const found = await sumChunks(size, async (indexes) =>
    read(pool, statements.compareHeartbeats, [
      indexes.map((index) => toMachineKey(vault, credentialsOf(index).machineId)),
      pick(acknowledged, indexes),
      pick(unanswered, indexes),
    ]),
  );
  return createCheck('Every acknowledged heartbeat is counted once', sum(acknowledged), [
    [found.missing ?? 0, 'machines have no day of use'],
    [found.lost ?? 0, 'machines have fewer heartbeats than were acknowledged'],
    [found.surplus ?? 0, 'machines have more heartbeats than were sent'],
  ]);
}

async function checkEvents({ ledger: { eventBatches }, pool }: AuditOptions): Promise<Check> {
  const { missing = 0 } = await sumChunks(eventBatches.size, async (batches) =>
    read(pool, statements.compareEvents, [
      listAcknowledged(eventBatches, batches).flatMap(listEventIds),
    ]),
  );
  const all = Array.from({ length: eventBatches.size }, (_, batch) => batch);
  const possible = sum(all.filter((batch) => eventBatches.isPossible(batch)).map(sizeOfBatch));
  const acknowledged = sum(listAcknowledged(eventBatches, all).map(sizeOfBatch));
  const stored = await read(pool, statements.countEvents);
  return createCheck('Every acknowledged event is stored exactly once', acknowledged, [
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
    read(pool, statements.compareTrials, [
      listAcknowledged(trials, indexes).map((index) => trialActivations.get(index)),
    ]),
  );
  const stored = (await read(pool, statements.countTrials)) ?? { trials: 0, machines: 0 };
  return createCheck(
    'Every machine has at most one trial, and every acknowledged one',
    trials.countAcknowledged(),
    [
      [missing, 'acknowledged trials are missing'],
      [stored.trials - stored.machines, 'machines have a second trial'],
      [Math.max(0, stored.trials - trials.countPossible()), 'trials exist that nobody requested'],
    ],
  );
}

async function checkPayments({ ledger: { payments }, pool }: AuditOptions): Promise<Check> {
  const found = await sumChunks(payments.size, async (indexes) =>
    read(pool, statements.comparePayments, [
      listAcknowledged(payments, indexes).map((index) => `txn_${idOfPurchase(index)}`),
    ]),
  );
  const stored = (await read(pool, statements.countPayments)) ?? { licenses: 0, unapplied: 0 };
  return createCheck(
    'Every acknowledged payment has one license with one key',
    payments.countAcknowledged(),
    [
      [found.missing ?? 0, 'acknowledged payments have no license'],
      [found.surplus ?? 0, 'payments have several licenses'],
      [Math.max(0, stored.licenses - payments.countPossible()), 'licenses exist without a payment'],
      [stored.unapplied, 'payment events were not applied'],
    ],
  );
}

async function checkActivations({ ledger, pool }: AuditOptions): Promise<Check> {
  const { activationIds, activations, deactivations } = ledger;
  const known = listKnown(ledger);
  const found = await read(pool, statements.compareActivations, [
    known.map((index) => activationIds.get(index)),
    known.map((index) => deactivations.isAcknowledged(index)),
    known.map((index) => deactivations.isPossible(index)),
  ]);
  const stored = (await read(pool, statements.countActivations)) ?? { activations: 0, overfull: 0 };
  return createCheck('Activations are active or not as was last acknowledged', known.length, [
    [found?.missing ?? 0, 'acknowledged activations are missing'],
    [found?.lost ?? 0, 'machines are active although their deactivation was acknowledged'],
    [found?.surplus ?? 0, 'machines are inactive although nobody deactivated them'],
    [
      Math.max(0, stored.activations - activations.countPossible()),
      'activations exist that nobody requested',
    ],
    [stored.overfull, 'licenses are active on more machines than they allow'],
  ]);
}

async function checkSubscribers({ ledger: { subscriptions }, pool }: AuditOptions): Promise<Check> {
  const found = await sumChunks(subscriptions.size, async (indexes) =>
    read(pool, statements.compareSubscribers, [
      listAcknowledged(subscriptions, indexes).map(addressOfSubscriber),
    ]),
  );
  return createCheck(
    'Every acknowledged subscriber is stored once',
    subscriptions.countAcknowledged(),
    [
      [found.missing ?? 0, 'acknowledged subscribers are missing'],
      [found.surplus ?? 0, 'subscribers are stored twice'],
    ],
  );
}

async function checkKeyMails({ ledger, pool, repeatedMails }: AuditOptions): Promise<Check> {
  const { keyMails, payments } = ledger;
  const paid = listAcknowledged(payments, Array.from(keyMails.keys()));
  const missing = paid.filter((index) => keyMails[index] === 0).length;
  const repeated = sum(Array.from(keyMails, (count) => Math.max(0, count - 1)));
  const stored = (await read(pool, statements.countKeyEmails)) ?? { sent: 0, unsent: 0 };
  const promise =
    repeatedMails === 0
      ? 'Every buyer receives one e-mail with the key'
      : `Every buyer receives one e-mail with the key; at most ${repeatedMails} twice, when a fault lost that they were sent`;
  return createCheck(promise, paid.length, [
    [missing, 'buyers received no e-mail'],
    [Math.max(0, repeated - repeatedMails), 'e-mails too many were sent twice'],
    [stored.unsent, 'e-mails with keys are not recorded as sent'],
  ]);
}

function checkOutreach({ ledger: { outreach, outreachMails } }: AuditOptions): Check {
  const all = Array.from(outreachMails.keys());
  const missing = listAcknowledged(outreach, all).filter(
    (index) => outreachMails[index] === 0,
  ).length;
  const repeated = all.filter((index) => (outreachMails[index] ?? 0) > 1).length;
  return createCheck(
    'No outreach message is sent twice, and those reported as sent were',
    outreach.countAcknowledged(),
    [
      [missing, 'messages that were reported as sent did not reach the relay'],
      [repeated, 'messages were sent twice'],
    ],
  );
}
