import type { TrialState } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import { condition, defineList, type Condition } from '#server/db/list.ts';
import { columnsOf, Nullable, Timestamp } from '#server/db/statement.ts';

import { StatusRow } from '../../licenses/facts.ts';
import { usableCondition } from '../../licenses/rules/status-sql.ts';

const FactsRow = Type.Object({
  ...StatusRow.properties,
  keyHint: Type.String(),
  createdAt: Timestamp,
});

const MachineFacts = Type.Object({
  machine_id: Type.String(),
  os_version: Nullable.Text,
  app_version: Nullable.Text,
  /** ISO 8601. */
  last_seen_at: Type.String(),
});

const TrialRow = Type.Object({
  ...FactsRow.properties,
  /** Of its active or else its latest activation. */
  machine: Type.Union([MachineFacts, Type.Null()]),
  convertedLicenseId: Nullable.Text,
  convertedProductId: Nullable.Text,
  convertedAt: Nullable.Timestamp,
});

/** A trial in a list, with the facts of its status. */
export type ListedTrial = Readonly<Static<typeof TrialRow>>;

/** A subquery in the select list runs only for the rows of the page. */
const MACHINE = `(
    select jsonb_build_object(
      'machine_id', coalesce(a.machine_id, a.machine_digest), 'os_version', a.os_version, 'app_version', a.app_version,
      'last_seen_at', to_char(a.last_validated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from activations a where a.license_id = l.id
    order by (a.deactivated_at is null) desc, a.activated_at desc, a.id desc
    limit 1) as machine`;

/** Trials, which are licenses, and the licenses that they led to. */
export const trialList = defineList({
  name: 'trial_list_page',
  row: TrialRow,
  columns: `${columnsOf(FactsRow, 'l')}, ${MACHINE}, c.license_id as converted_license_id,
    c.product_id as converted_product_id, c.converted_at`,
  from: 'licenses l left join trial_conversions c on c.trial_id = l.id',
  id: { sql: 'l.id', type: 'uuid' },
  sorts: {
    created_at: { sql: 'l.created_at', type: 'timestamptz' },
    expires_at: { sql: 'l.expires_at', type: 'timestamptz' },
  },
});

/** The software may run. The first condition follows from the others, because trials have no grace; an index answers it. */
const IS_RUNNING = `l.expires_at > ?::timestamptz and ${usableCondition('?::timestamptz')}`;
const TIMES = IS_RUNNING.split('?').length - 1;

/** Returns the condition of a state at a time. */
export function isInState(state: TrialState, now: Date): Condition {
  const times = Array.from({ length: TIMES }, () => now);
  if (state === 'converted') return condition('c.trial_id is not null');
  if (state === 'running') return condition(`c.trial_id is null and ${IS_RUNNING}`, ...times);
  return condition(`c.trial_id is null and not (${IS_RUNNING})`, ...times);
}

/** The condition of the whole list. Imported trials without an end are not in it. */
export const isTrial = condition('l.trial and l.expires_at is not null');

export const isOfProduct = (productId: string): Condition =>
  condition('l.product_id = ?', productId);

const MAX_FOUND = 1_000;

/** Trials on machines whose id begins with a text, or whose key ends with it. */
export function matchesSearch(text: string): Condition {
  const beginning = Array.from(text).slice(0, 200).join('');
  const machine = 'left(coalesce(machine_id, machine_digest), 200)';
  return condition(
    `l.id = any (array(
       (select license_id from activations where ${machine} ~>=~ ? and ${machine} ~<~ ? limit ${MAX_FOUND})
       union all
       (select id from licenses where key_hint = any (?::text[]) limit ${MAX_FOUND})))`,
    beginning,
    `${beginning}\u{10FFFF}`,
    [text, text.toUpperCase()],
  );
}
