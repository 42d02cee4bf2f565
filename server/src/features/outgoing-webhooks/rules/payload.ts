import { WEBHOOK_EVENT_TYPES } from '@latchkey/contract';

import type { LicenseStatusFacts } from '../../licenses/rules/facts.ts';
import { licenseStatus, publicExpiry, type LicenseStatus } from '../../licenses/rules/status.ts';

/** All event types that endpoints can subscribe to. */
export const EVENT_TYPES = WEBHOOK_EVENT_TYPES;

export type EventType = (typeof EVENT_TYPES)[number];

/** The data of a license in payloads; never its key. */
export interface EventLicense extends LicenseStatusFacts {
  readonly tier: string | null;
  /** The last characters of the key. */
  readonly keyHint: string;
  /** Omitted from the payload if null. */
  readonly customerEmail: string | null;
}

/** Further fields of the payload. */
export type EventDetails = Readonly<
  Partial<{
    activation_id: string;
    previous_key_hint: string;
    previous_status: LicenseStatus;
    previous_expires_at: string | null;
    previous_updates_until: string | null;
  }>
>;

/** Formats the body of a message by Standard Webhooks: `type`, `timestamp` and `data`, with the license at that time. */
export function formatPayload(
  type: string,
  license: EventLicense,
  details: EventDetails,
  occurredAt: Date,
): string {
  const { customerEmail } = license;
  return JSON.stringify({
    type,
    timestamp: occurredAt.toISOString(),
    data: {
      license_id: license.id,
      key_hint: license.keyHint,
      product: license.productId,
      tier: license.tier,
      trial: license.trial,
      status: licenseStatus(license, occurredAt),
      expires_at: publicExpiry(license, occurredAt)?.toISOString() ?? null,
      ...(license.updatesUntil === null
        ? {}
        : { updates_until: license.updatesUntil.toISOString() }),
      ...(customerEmail === null ? {} : { customer_email: customerEmail }),
      ...details,
    },
  });
}
