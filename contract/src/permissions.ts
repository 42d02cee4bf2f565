/** What operators and API keys may do: a resource and a verb. Without schemas, because the console loads it. */
import type { OperatorRole } from './constants.ts';

interface Grant {
  /** The lowest role that has it. */
  readonly role: OperatorRole;
  /** Whether a person proves again who they are, within the last 10 minutes. An API key never does. */
  readonly reauthenticate?: true;
  /** Whether only a person in a browser has it, and no API key. */
  readonly sessionOnly?: true;
}

/** Every permission. The service enforces this table; `openapi.json`, `roles.md` and the console show it. */
export const permissions = {
  'account:read': { role: 'viewer', sessionOnly: true },
  'account:change': { role: 'viewer', reauthenticate: true, sessionOnly: true },
  'activations:export': { role: 'viewer', reauthenticate: true },
  'activations:deactivate': { role: 'support' },
  'api-keys:read': { role: 'admin' },
  'api-keys:export': { role: 'admin', reauthenticate: true },
  'api-keys:issue': { role: 'admin', reauthenticate: true },
  'api-keys:revoke': { role: 'admin', reauthenticate: true },
  'audit:read': { role: 'admin' },
  'audit:export': { role: 'admin', reauthenticate: true },
  'catalog:read': { role: 'viewer' },
  'customers:read': { role: 'viewer' },
  'customers:export': { role: 'support', reauthenticate: true },
  'customers:erase': { role: 'admin', reauthenticate: true },
  'doctor:run': { role: 'viewer' },
  'events:read': { role: 'viewer' },
  'fleet-servers:read': { role: 'viewer' },
  'fleet-servers:export': { role: 'viewer', reauthenticate: true },
  'fleet-servers:change': { role: 'admin' },
  'health:read': { role: 'viewer' },
  'installs:read': { role: 'viewer' },
  'installs:export': { role: 'support', reauthenticate: true },
  'installs:erase': { role: 'admin', reauthenticate: true },
  'jobs:read': { role: 'viewer' },
  'jobs:export': { role: 'support', reauthenticate: true },
  'jobs:retry': { role: 'admin' },
  'key-pools:read': { role: 'viewer' },
  'key-pools:add': { role: 'admin' },
  'key-pools:remove': { role: 'admin', reauthenticate: true },
  'licenses:read': { role: 'viewer' },
  'licenses:export': { role: 'support', reauthenticate: true },
  'licenses:export-keys': { role: 'admin', reauthenticate: true },
  'licenses:reveal': { role: 'support' },
  'licenses:extend': { role: 'support' },
  'licenses:resend': { role: 'support' },
  'licenses:change': { role: 'admin' },
  'licenses:issue': { role: 'admin' },
  'licenses:rekey': { role: 'admin', reauthenticate: true },
  'licenses:revoke': { role: 'admin', reauthenticate: true },
  'machines:read': { role: 'viewer' },
  'machines:erase': { role: 'admin', reauthenticate: true },
  'mails:read': { role: 'viewer' },
  'mails:export': { role: 'support', reauthenticate: true },
  'mails:resend': { role: 'support' },
  'mails:resend-all': { role: 'admin' },
  'mails:check-relay': { role: 'support' },
  'operators:read': { role: 'admin' },
  'operators:export': { role: 'admin', reauthenticate: true },
  'operators:create': { role: 'admin', reauthenticate: true },
  'operators:change': { role: 'admin', reauthenticate: true },
  'overview:read': { role: 'viewer' },
  'payment-events:read': { role: 'viewer' },
  'payment-events:export': { role: 'support', reauthenticate: true },
  'payment-events:reveal': { role: 'support' },
  'payment-events:change': { role: 'admin' },
  'payment-events:delete': { role: 'admin' },
  'revenue:read': { role: 'viewer' },
  'search:read': { role: 'viewer' },
  'session:read': { role: 'viewer' },
  'session:prove': { role: 'viewer', sessionOnly: true },
  'session:end': { role: 'viewer', sessionOnly: true },
  'settings:read': { role: 'viewer' },
  'signing-keys:read': { role: 'admin' },
  'signing-keys:export': { role: 'admin', reauthenticate: true },
  'signing-keys:rotate': { role: 'admin', reauthenticate: true },
  'signing-keys:revoke': { role: 'admin', reauthenticate: true },
  'subscribers:read': { role: 'viewer' },
  'subscribers:export': { role: 'support', reauthenticate: true },
  'subscribers:resend': { role: 'support' },
  'subscribers:unsubscribe': { role: 'admin' },
  'subscribers:erase': { role: 'admin', reauthenticate: true },
  'suppressions:read': { role: 'viewer' },
  'suppressions:export': { role: 'support', reauthenticate: true },
  'suppressions:change': { role: 'admin' },
  'trials:read': { role: 'viewer' },
  'trials:export': { role: 'viewer', reauthenticate: true },
  'usage:read': { role: 'viewer' },
  'webhook-deliveries:read': { role: 'viewer' },
  'webhook-deliveries:export': { role: 'support', reauthenticate: true },
  'webhook-deliveries:replay': { role: 'admin' },
  'webhook-endpoints:read': { role: 'viewer' },
  'webhook-endpoints:export': { role: 'viewer', reauthenticate: true },
  'webhook-endpoints:add': { role: 'admin', reauthenticate: true },
  'webhook-endpoints:change': { role: 'admin' },
  'webhook-endpoints:test': { role: 'admin' },
  'webhook-endpoints:roll': { role: 'admin', reauthenticate: true },
  'webhook-endpoints:remove': { role: 'admin', reauthenticate: true },
} as const satisfies Readonly<Record<string, Grant>>;

export type Permission = keyof typeof permissions;

/** Returns who has a permission. */
export function grantOf(permission: Permission): Grant {
  return permissions[permission];
}
