import type { CampaignState, CampaignSummary } from '@latchkey/contract';

import type { Tone } from '#console/ui/badge.tsx';

export const STATES: Readonly<
  Record<CampaignState, { readonly label: string; readonly tone: Tone }>
> = {
  draft: { label: 'Draft', tone: 'muted' },
  sending: { label: 'Sending', tone: 'info' },
  paused: { label: 'Paused', tone: 'warning' },
  sent: { label: 'Sent', tone: 'good' },
  canceled: { label: 'Canceled', tone: 'bad' },
};

export const SOURCES: Readonly<Record<CampaignSummary['source'], string>> = {
  subscribers: 'Subscribers',
  customers: 'Customers',
  list: 'Pasted list',
};

/** What an error of a message means, and what to do. */
const ERRORS: Readonly<Record<string, string>> = {
  canceled: 'The campaign was canceled before.',
  address: 'The address is not valid for mail.',
  connection: 'The mail relay could not be reached.',
  timeout: 'The mail relay did not answer in time.',
  tls: 'The mail relay has no valid certificate.',
  login: 'The mail relay rejected the login.',
  unknown: 'It may have arrived: the relay did not confirm it. It is never sent again.',
};

/** Describes an error of a message in a sentence. */
export function describeError(error: string): string {
  if (error.startsWith('smtp_5')) return 'The relay rejected it for good. Check the address.';
  if (error.startsWith('smtp_4')) return 'The relay deferred it too often.';
  return ERRORS[error] ?? '';
}

/** Such as `1 person` and `1,200 people`. */
export function countPeople(count: number): string {
  return count === 1 ? '1 person' : `${count.toLocaleString()} people`;
}
