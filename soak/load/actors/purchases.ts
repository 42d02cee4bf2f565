import { LicenseActivateResponse, LicenseCheckResponse } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { createSignature, writePurchase } from '../../../bench/lib/purchases.ts';
import { hashKey } from '../../ledger/uuids.ts';
import { OTHER_CLIENTS, type LoadContext } from './actor.ts';
import { requireValid } from './validations.ts';

/** The provider delivers every tenth payment twice, and every tenth buyer leaves the machine again. */
const REPEATED_EVERY = 10;

/** Returns the id in the transaction and in the customer of a purchase. */
export function idOfPurchase(purchase: number): string {
  return `soak${String(purchase).padStart(22, '0')}`;
}

/** Returns the number of the purchase of a customer; null: it is no customer of this load. */
export function purchaseOfCustomer(customerId: string): number | null {
  const digits = /^ctm_soak(\d{22})$/u.exec(customerId)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** A payment arrives, the buyer's page polls for the key, the buyer activates a machine and validates. */
export async function buy(context: LoadContext, purchase: number, dueAt: number): Promise<void> {
  const client = OTHER_CLIENTS + 1_000_000 + purchase;
  if (!(await deliverPayment(context, purchase, dueAt))) return;
  const licenseKey = await waitForKey(context, purchase, client);
  if (licenseKey === null) return;
  const body = {
    license_key: licenseKey,
    machine_fingerprint: { machine_id: machineOf(purchase) },
  };
  const activated = await context.client.sendUntilAnswered(
    'activate',
    () => ({ path: '/api/v1/licenses/activate', body, client }),
    ({ acknowledgement }) => context.ledger.activations.record(purchase, acknowledgement),
  );
  if (activated.acknowledgement !== 'acknowledged') return;
  const { activation_id: id } = Parse(LicenseActivateResponse, JSON.parse(activated.text));
  context.ledger.activationIds.set(purchase, id);
  const credentials = {
    license_key: licenseKey,
    activation_id: id,
    machine_id: machineOf(purchase),
  };
  await validateOnce(context, purchase, credentials, client);
  if (purchase % REPEATED_EVERY === 1) await deactivate(context, purchase, credentials, client);
}

const machineOf = (purchase: number): string => `buyer-machine-${purchase}`;

/** Delivers the webhook of a payment until it is acknowledged, as providers do. */
async function deliverPayment(
  { client, ledger }: LoadContext,
  purchase: number,
  dueAt: number,
): Promise<boolean> {
  const body = writePurchase(idOfPurchase(purchase));
  const webhook = {
    path: '/api/v1/webhooks/billing',
    body,
    headers: () => ({ 'billing-signature': createSignature(body) }),
    client: OTHER_CLIENTS - 1,
  };
  const { acknowledgement } = await client.sendUntilAnswered(
    'webhook',
    () => ({ ...webhook, dueAt }),
    (answer) => ledger.payments.record(purchase, answer.acknowledgement),
  );
  if (acknowledgement === 'acknowledged' && purchase % REPEATED_EVERY === 0)
    await client.send('webhook', webhook);
  return acknowledgement === 'acknowledged';
}

/** Returns the key of a license, which exists once its payment is acknowledged; null: the load ends. */
async function waitForKey(
  context: LoadContext,
  purchase: number,
  client: number,
): Promise<string | null> {
  const path = `/api/v1/licenses/check/txn_${idOfPurchase(purchase)}`;
  const { acknowledgement, text } = await context.client.sendUntilAnswered(
    'check',
    () => ({ method: 'GET', path, client }),
    () => {},
  );
  if (acknowledgement !== 'acknowledged') return null;
  const { license_key: key = null } = Parse(LicenseCheckResponse, JSON.parse(text));
  if (key === null) context.violations.add('an acknowledged payment has no license');
  else context.ledger.keys.set(purchase, hashKey(key));
  return key;
}

interface Credentials {
  readonly license_key: string;
  readonly activation_id: string;
  readonly machine_id: string;
}

async function validateOnce(
  { client, ledger, violations }: LoadContext,
  purchase: number,
  credentials: Credentials,
  address: number,
): Promise<void> {
  const body = { ...credentials, trigger: 'manual' };
  const path = '/api/v1/licenses/validate';
  const answer = await client.send('validate', { path, body, client: address });
  ledger.buyerValidations.record(purchase, answer.acknowledgement);
  requireValid(answer, violations);
}

async function deactivate(
  { client, ledger }: LoadContext,
  purchase: number,
  body: Credentials,
  address: number,
): Promise<void> {
  await client.sendUntilAnswered(
    'deactivate',
    () => ({ path: '/api/v1/licenses/deactivate', body, client: address }),
    ({ acknowledgement }) => ledger.deactivations.record(purchase, acknowledgement),
  );
}
