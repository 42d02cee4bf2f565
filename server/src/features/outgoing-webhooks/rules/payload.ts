import type { LicenseStanding } from '../../licenses/rules/facts.ts';
import { licenseStatus, publicExpiry, type LicenseStatus } from '../../licenses/rules/status.ts';

/** Everything that an endpoint can be told of. */
export const EVENT_TYPES = [
  'license.created',
  'license.renewed',
  'license.expired',
  'license.status_changed',
  'license.key_replaced',
  'activation.added',
  'activation.removed',
  'trial.started',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** What a receiver is told about a license is made of this; never the key itself. */
export interface EventLicense extends LicenseStanding {
  readonly tier: string | null;
  /** The last symbols of the key. */
  readonly keyHint: string;
  /** Told only when it is known. */
  readonly customerEmail: string | null;
}

/** What an event says beyond the license, in the names of the wire. */
export type EventDetails = Readonly<
  Partial<{
    activation_id: string;
    previous_key_hint: string;
    previous_status: LicenseStatus;
    previous_expires_at: string | null;
  }>
>;

/** The body of a message: Standard Webhooks' `type`, `timestamp` and `data`, with the license as it was at that moment. */
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
      ...(customerEmail === null ? {} : { customer_email: customerEmail }),
      ...details,
    },
  });
}
