import type { AdminLicense } from '@latchkey/contract';
import { licenses } from '@latchkey/contract/admin/licenses';
import { showOverview } from '@latchkey/contract/admin/overview';
import { searchEverything } from '@latchkey/contract/admin/search';

import { pathOf } from '#console/app/call.ts';
import { labelOf, sentenceCase, toOptions } from '#console/ui/labels.ts';

/** What shows something else after a license changed. */
export const AFFECTED = [pathOf(licenses.list), pathOf(showOverview), pathOf(searchEverything)];

const REFUSALS: Readonly<Record<string, string>> = {
  activation_limit_reached: 'machine limit',
  move_limit_reached: 'move limit',
  machine_mismatch: 'another computer',
  activation_inactive: 'deactivated',
  activation_not_found: 'unknown activation',
  trial_expired: 'trial ended',
};

/** Returns why requests were refused, such as `machine limit`. */
export function labelOfRefusal(reason: string): string {
  return REFUSALS[reason] ?? labelOf(reason);
}

/** The reasons of refusals by which the list is filtered. */
export const REFUSAL_OPTIONS = [
  'activation_limit_reached',
  'move_limit_reached',
  'machine_mismatch',
  'activation_inactive',
  'activation_not_found',
  'license_expired',
  'trial_expired',
  'license_canceled',
  'license_suspended',
  'license_revoked',
].map((value) => ({ value, label: sentenceCase(labelOfRefusal(value)) }));

export const STATUS_OPTIONS = toOptions([
  'active',
  'past_due',
  'expired',
  'canceled',
  'paused',
  'suspended',
  'refunded',
  'revoked',
]);

const MAIL_OUTCOMES: Readonly<Record<string, string>> = {
  queued: 'The e-mail with the key is on its way.',
  not_wanted: 'No e-mail was sent.',
  not_configured: 'No e-mail was sent: no mail relay is configured. Hand the key over yourself.',
  no_address: 'No e-mail was sent: the license has no address. Enter one first.',
  not_valid: 'No e-mail was sent: the license is not usable.',
  sending: 'The e-mail is just being sent.',
};

/** The state of the e-mail with a key. */
export function mailOutcome(outcome: string): string {
  return MAIL_OUTCOMES[outcome] ?? '';
}

/** The name by which people know a license. */
export function nameOf(license: AdminLicense): string {
  const kind = license.trial ? 'Trial' : 'License';
  return license.customer_name ?? license.customer_email ?? `${kind} …${license.key_hint}`;
}
