import type { PersonalData } from './personal-data.ts';
import { listLeftOut } from './rules/select-devices.ts';

/** What an erasure does to the rows of a table. */
export interface PlannedTable {
  readonly table: string;
  readonly rows: number;
  readonly outcome: string;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  license_transactions: 'kept: ids of checkouts',
  imported_licenses: 'kept: ids in the previous system',
  imported_seats: 'names of devices deleted; ids kept',
  activations: 'kept: the machines of the license',
  usage_days: 'deleted',
  billing_customers: 'address, name and language deleted; ids kept',
  billing_payments: 'address, name and language deleted; amounts kept, since licenses need them',
  billing_subscriptions: 'address, name and language deleted; terms kept, since licenses need them',
  billing_events: 'body deleted, unless the event was neither applied nor dismissed',
  billing_repairs: 'deleted',
  key_emails: 'hash of the address deleted',
  subscribers: 'deleted',
  subscriber_confirmations: 'deleted',
  buyer_codes: 'deleted',
  owner_emails: 'deleted',
  suppressions: 'kept: the hash of the address prevents mail',
  outreach_messages: 'hash of the address deleted',
  outreach_recipients: 'deleted',
  webhook_messages: 'address deleted',
  webhook_attempts: 'answers of endpoints deleted',
  audit_log: 'kept: contains no address',
};

/** Lists what an erasure would delete and keep; changes nothing. */
export function planErasure({ person, tables }: PersonalData, revoke: boolean): PlannedTable[] {
  const licenses = `address, name and note deleted; ${revoke ? 'revoked' : 'still valid'}`;
  const outcomes: Readonly<Record<string, string>> = { ...OUTCOMES, licenses };
  const planned = Array.from(tables, ([table, rows]) => ({
    table,
    rows: rows.length,
    outcome: outcomes[table] ?? 'kept',
  }));
  const { installIds, machineIds, sharedInstalls, sharedMachines } = person;
  const kept = 'kept: licenses of others were activated there, too';
  const devices = [
    { table: 'installs', rows: installIds.length, outcome: 'their events deleted' },
    {
      table: 'shared_installs',
      rows: listLeftOut(sharedInstalls, installIds).length,
      outcome: `events ${kept}`,
    },
    {
      table: 'shared_machines',
      rows: listLeftOut(sharedMachines, machineIds).length,
      outcome: `days of use ${kept}`,
    },
  ];
  return [...planned, ...devices.filter(({ rows }) => rows > 0)];
}
