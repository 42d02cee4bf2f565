/** Compares payments, their licenses with keys, and the machines of buyers. */
import { licenseKeyLabel } from '#server/features/licenses/license-key.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';
import { createVault, type Vault } from '#server/lib/vault.ts';
import type { Static } from 'typebox';

import type { Ledger } from '../ledger/ledger.ts';
import { hashKey } from '../ledger/uuids.ts';
import { idOfPurchase } from '../load/actors/purchases.ts';
import { createCheck, numbersOf, sumChunks, type Check } from './check.ts';
import { listAcknowledged, pick, readRow, readRows, sum, type AuditOptions } from './compare.ts';
import * as statements from './statements.ts';

const transactionOf = (purchase: number): string => `txn_${idOfPurchase(purchase)}`;

export async function checkPayments({ ledger: { payments }, pool }: AuditOptions): Promise<Check> {
  const found = await sumChunks(payments.size, async (indexes) =>
    readRow(pool, statements.comparePayments, [
      listAcknowledged(payments, indexes).map(transactionOf),
    ]),
  );
  const stored = (await readRow(pool, statements.countPayments)) ?? { licenses: 0, unapplied: 0 };
  return createCheck(
    'Every acknowledged payment has one license with one key',
    numbersOf(payments),
    [
      [payments.countUnacknowledged(), 'payments were never acknowledged'],
      [found.missing ?? 0, 'acknowledged payments have no license'],
      [found.surplus ?? 0, 'payments have several licenses'],
      [Math.max(0, stored.licenses - payments.countPossible()), 'licenses exist without a payment'],
      [stored.unapplied, 'payment events were not applied'],
    ],
  );
}

/** Compares the key that each buyer's page received with the stored one: sealed, and as the hash by which it is found. */
export async function checkKeys({ ledger, masterSecret, pool }: AuditOptions): Promise<Check> {
  const { keys } = ledger;
  const vault = createVault(masterSecret);
  const { compared = 0, different = 0 } = await sumChunks(keys.size, async (indexes) => {
    const known = indexes.filter((index) => keys.get(index) !== null);
    const rows = await readRows(pool, statements.listSoldKeys, [known.map(transactionOf)]);
    const stored = new Map(rows.map((row) => [row.transaction_id, readKey(vault, row)]));
    const wrong = known.filter((index) => stored.get(transactionOf(index)) !== keys.get(index));
    return { compared: known.length, different: wrong.length };
  });
  const numbers = { planned: keys.size, compared };
  return createCheck('Every key that a buyer received is the stored one', numbers, [
    [different, 'licenses have another key'],
  ]);
}

/** Returns the hash of a stored key; null if its license is not found by it. */
function readKey(vault: Vault, row: Static<typeof statements.SoldKey>): string | null {
  const key = vault.open(row.key_sealed, licenseKeyLabel(row.license_id));
  const reading = readLicenseKey(key, '');
  if (reading.kind !== 'native' || vault.hashLookup(reading.lookup) !== row.key_hash) return null;
  return hashKey(key);
}

export async function checkActivations({ ledger, pool }: AuditOptions): Promise<Check> {
  const { activationIds, activations, deactivations, payments } = ledger;
  const paid = payments.countAcknowledged();
  const known = listKnown(ledger);
  const found = await readRow(pool, statements.compareActivations, [
    known.map((index) => activationIds.get(index)),
    known.map((index) => deactivations.isAcknowledged(index)),
    known.map((index) => deactivations.isPossible(index)),
  ]);
  const stored = (await readRow(pool, statements.countActivations)) ?? {
    activations: 0,
    overfull: 0,
  };
  const numbers = { planned: activations.size, compared: known.length };
  return createCheck('Activations are active or not as was last acknowledged', numbers, [
    [paid - activations.countAcknowledged(), 'buyers could not activate a machine'],
    [found?.missing ?? 0, 'acknowledged activations are missing'],
    [found?.lost ?? 0, 'machines are active although their deactivation was acknowledged'],
    [found?.surplus ?? 0, 'machines are inactive without a request'],
    [
      Math.max(0, stored.activations - activations.countPossible()),
      'activations exist without a request',
    ],
    [stored.overfull, 'licenses are active on more machines than they allow'],
  ]);
}

export async function checkBuyerValidations({ ledger, pool }: AuditOptions): Promise<Check> {
  const { activationIds, buyerValidations, deactivations } = ledger;
  const known = listKnown(ledger).filter((index) => !deactivations.isPossible(index));
  const found = await readRow(pool, statements.compareValidations, [
    known.map((index) => activationIds.get(index)),
    pick(buyerValidations.acknowledged, known),
    pick(buyerValidations.unanswered, known),
  ]);
  const numbers = {
    planned: buyerValidations.size,
    compared: sum(buyerValidations.acknowledged),
  };
  return createCheck('The same on licenses that were bought during the day', numbers, [
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
