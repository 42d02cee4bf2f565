import type { ApiKeyScope } from '@latchkey/contract';

/** What a key may do. */
export const SCOPES: readonly { readonly value: ApiKeyScope; readonly label: string }[] = [
  { value: 'outreach:send', label: 'send outreach e-mail' },
  { value: 'metrics:read', label: 'read metrics' },
  { value: 'subscribers:write', label: 'subscribe addresses without the rate limit' },
  { value: 'admin:read', label: 'operator interface as viewer' },
  { value: 'admin:support', label: 'operator interface as support' },
  { value: 'admin', label: 'everything' },
];
