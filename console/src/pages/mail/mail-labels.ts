import type { MailItem } from '@latchkey/contract';

import type { Tone } from '#console/ui/badge.tsx';
import { labelOf, namedOptions, toOptions } from '#console/ui/labels.ts';

const TONES: Readonly<Record<MailItem['state'], Tone>> = {
  queued: 'info',
  held: 'warning',
  sending: 'info',
  sent: 'good',
  unconfirmed: 'warning',
  failed: 'bad',
};

export function toneOfMail(state: MailItem['state']): Tone {
  return TONES[state];
}

export const STATE_OPTIONS = toOptions(Object.keys(TONES));

const KINDS: Readonly<Record<MailItem['kind'], string>> = {
  key: 'License keys',
  owner: 'To a license owner',
  confirmation: 'Confirmation',
  outreach: 'Outreach',
};

export function nameKind(kind: MailItem['kind']): string {
  return KINDS[kind];
}

const OWNER_TEMPLATES: Readonly<Record<string, string>> = {
  buyer_code: 'Code for the buyer’s page',
  machine_freed: 'Computer freed',
  replaced_key: 'Replaced key',
  gift_sent: 'Gift sent, to its payer',
  key: 'License key, again',
};

/** Names a mail by its kind and template. */
export function nameMail({ kind, template }: Pick<MailItem, 'kind' | 'template'>): string {
  if (kind === 'outreach') return `Outreach: ${labelOf(template)}`;
  return kind === 'owner' ? (OWNER_TEMPLATES[template] ?? nameKind(kind)) : nameKind(kind);
}

export const KIND_OPTIONS = namedOptions(KINDS);
