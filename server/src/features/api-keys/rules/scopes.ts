/**
 * What an API key may be good for:
 * - `outreach:send`: to send outreach e-mail;
 * - `metrics:read`: to read `/metrics`;
 * - `subscribers:write`: to subscribe addresses without the limit on requests, for a server that passes on its form;
 * - `admin`: everything, the scopes to come included.
 */
export const API_KEY_SCOPES = [
  'outreach:send',
  'metrics:read',
  'subscribers:write',
  'admin',
] as const;

export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/**
 * Whether scopes include the one that is asked for.
 * @param scopes as they are stored; one that this version does not know is good for nothing
 */
export function grantsScope(scopes: readonly string[], required: ApiKeyScope): boolean {
  return scopes.includes('admin') || scopes.includes(required);
}
