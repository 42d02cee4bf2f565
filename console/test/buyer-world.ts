/** A buyer with ten licenses and 300 machines, on a service with a mail relay. */
import { v7 as makeUuid } from 'uuid';

import { hashIdentity } from '../../server/src/features/licenses/fingerprint/identity.ts';
import { readFingerprint } from '../../server/src/features/licenses/fingerprint/read-fingerprint.ts';
import { insertActivations } from '../../server/src/features/licenses/queries/activations.ts';
import { createSmtpTransport } from '../../server/src/mail/smtp-transport.ts';
import { airgapCatalog } from '../../server/test/airgap-steps.ts';
import { openTestService, type TestService } from '../../server/test/harness.ts';
import { startMailRelay, type MailRelay } from '../../server/test/mail-relay.ts';

export const BUYER_EMAIL = 'robin@example.com';

/** A license and the id of one of its machines. */
interface BuyerLicense {
  readonly id: string;
  readonly licenseKey: string;
  readonly activationId: string;
}

export interface BuyerWorld {
  readonly service: TestService;
  readonly relay: MailRelay;
  /** The license with 272 machines, and one of a product that is offered to machines without a connection. */
  readonly large: BuyerLicense;
  readonly yearly: BuyerLicense;
}

const DAY_MS = 86_400_000;

/** Starts a service with that buyer. @param resources ends it */
export async function openBuyerWorld(resources: AsyncDisposableStack): Promise<BuyerWorld> {
  const relay = await startMailRelay();
  resources.defer(() => relay.close());
  const mailFrom = 'Example Shop <shop@example.com>';
  const mail = createSmtpTransport({ url: relay.url, from: mailFrom, dkim: null });
  resources.defer(() => mail.close());
  const settings = { LATCHKEY_PUBLIC_URL: 'http://127.0.0.1:8080' };
  const options = { settings, mail, mailFrom, catalog: airgapCatalog() };
  const service = await openTestService(options, resources);
  const now = service.clock.now();
  const later = (days: number) => new Date(now.getTime() + days * DAY_MS);
  const facts = [
    {},
    { expires_at: later(200), subscription: true },
    { expires_at: later(-3), subscription: true },
    { expires_at: later(-30) },
    { refunded_at: now },
    { suspended_at: now },
    { expires_at: later(20), subscription: true, cancel_scheduled_for: later(20) },
    { paused_at: later(-2), subscription: true },
  ];
  for (const each of facts) await addLicense(service, 'personal', 2, each);
  const large = await addLicense(service, 'sellers', 272, { updates_until: later(100) });
  const yearly = await addLicense(service, 'yearly', 2, { updates_until: later(-100) });
  return { service, relay, large, yearly };
}

async function addLicense(
  service: TestService,
  productId: string,
  machines: number,
  facts: NonNullable<Parameters<TestService['issue']>[0]>['facts'] & {},
): Promise<BuyerLicense> {
  const { license, licenseKey } = await service.issue({
    productId,
    customerEmail: BUYER_EMAIL,
    customerName: 'Robin Example',
    ...(Object.keys(facts).length === 0 ? {} : { facts }),
  });
  const { pool, clock, context } = service;
  await pool.query(
    'update licenses set max_activations = greatest(max_activations, $2) where id = $1',
    [license.id, machines],
  );
  const rows = Array.from({ length: machines }, (_, index) => {
    const machineId = `${productId}-${String(index).padStart(3, '0')}-4c4c4544-0044`;
    const reading = readFingerprint({ machine_id: machineId });
    if (!reading.ok) throw new Error(reading.message);
    return {
      licenseId: license.id,
      id: makeUuid(),
      machineId,
      identity: hashIdentity(context.vault, reading.identity),
      osVersion: 'Windows 11 24H2',
      appVersion: '2.4.1',
      entitlementProof: null,
      installId: null,
    };
  });
  await insertActivations(pool, rows, clock.now());
  return { id: license.id, licenseKey, activationId: rows[0]?.id ?? '' };
}
