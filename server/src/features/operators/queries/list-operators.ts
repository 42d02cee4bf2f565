import { condition, defineList, type Condition } from '#server/db/list.ts';
import { columnsOf } from '#server/db/statement.ts';

import { OperatorRow } from './operators.ts';

/** Few rows: neither the orders nor the search need an index. */
export const operatorList = defineList({
  name: 'operator_list_page',
  row: OperatorRow,
  columns: columnsOf(OperatorRow),
  from: 'operators',
  id: { sql: 'id', type: 'uuid' },
  sorts: {
    email: { sql: 'lower(email)', type: 'text' },
    name: { sql: 'lower(name)', type: 'text' },
    role: { sql: `array_position('{viewer,support,admin}', role)`, type: 'integer' },
    created_at: { sql: 'created_at', type: 'timestamptz' },
    last_sign_in_at: { sql: `coalesce(last_sign_in_at, '-infinity')`, type: 'timestamptz' },
  },
});

/** The operators that a text is part of, by name or address, in upper or lower case. */
export function matchesText(text: string): Condition {
  return condition(`strpos(lower(name || ' ' || email), lower(?)) > 0`, text);
}

/** The operators with a role. */
export function hasRole(role: string): Condition {
  return condition('role = ?', role);
}

/** The operators in a state, as `operatorState` computes it. */
export function isInState(state: string): Condition {
  return condition(
    `? = case when disabled_at is not null then 'disabled' when last_sign_in_at is null then 'invited' else 'active' end`,
    state,
  );
}
