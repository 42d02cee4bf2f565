import { type Static, Type } from 'typebox';

import { expectedVersion, listOf, listQuery, reason, rowsQuery } from './admin-list.ts';
import { MAX_NAME_LENGTH } from './admin-session.ts';
import { OPERATOR_ROLES } from './constants.ts';
import { dateTime, email, nullable, oneOf, text, uuid } from './schema.ts';

/** `invited`: has not signed in since it was created or reset. */
export const OPERATOR_STATES = ['invited', 'active', 'disabled'] as const;

export const Operator = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    email: Type.String({ examples: ['anna@example.com'] }),
    name: Type.String({ examples: ['Anna'] }),
    role: oneOf(OPERATOR_ROLES, { examples: ['support'] }),
    state: oneOf(OPERATOR_STATES, {
      description: '`invited`: has not signed in since it was created or reset.',
      examples: ['active'],
    }),
    totp_enabled: Type.Boolean({ description: 'Whether signing in needs a one-time code.' }),
    created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    last_sign_in_at: nullable(
      dateTime({
        description: 'Null: not since the operator was created or reset.',
        examples: ['2026-11-20T10:05:00.000Z'],
      }),
    ),
    disabled_at: nullable(dateTime({ examples: ['2026-11-21T10:00:00.000Z'] })),
    version: Type.Integer({ examples: [3] }),
  },
  { $id: 'Operator', description: 'An account of the console.' },
);
export type Operator = Static<typeof Operator>;

const SORTS = ['email', 'name', 'role', 'created_at', 'last_sign_in_at'] as const;
const FILTERS = {
  role: Type.Optional(oneOf(OPERATOR_ROLES)),
  state: Type.Optional(oneOf(OPERATOR_STATES)),
  search: Type.Optional(
    text({ description: 'A part of the name or of the e-mail address.', maxLength: 320 }),
  ),
};

export const OperatorQuery = listQuery(SORTS, FILTERS);
export const OperatorRowsQuery = rowsQuery(SORTS, FILTERS);
export type OperatorRowsQuery = Static<typeof OperatorRowsQuery>;

export const Operators = listOf(Operator, 'Operators');

/** The path of an operation on one operator. */
export const OperatorPath = Type.Object({ id: uuid() });

/** The path of an operation on one session of an operator. */
export const SessionOfOperatorPath = Type.Object({ id: uuid(), session_id: uuid() });

export const OperatorCreate = Type.Object(
  {
    email: email({ examples: ['ben@example.com'] }),
    name: Type.Optional(
      text({
        description: 'Default: the e-mail address.',
        maxLength: MAX_NAME_LENGTH,
        examples: ['Ben'],
      }),
    ),
    role: oneOf(OPERATOR_ROLES, { examples: ['support'] }),
    reason: Type.Optional(reason),
  },
  { $id: 'OperatorCreate', additionalProperties: false },
);
export type OperatorCreate = Static<typeof OperatorCreate>;

export const IssuedOperatorLink = Type.Object(
  {
    operator_id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    url: Type.String({
      description: 'Hand it to the operator: it works once. It cannot be shown again.',
      examples: ['https://license.example.com/console/welcome#3q2-7wQ0m1v8Xb4nJ5cZ9rT6yU2kL0pS'],
    }),
    expires_at: dateTime({ examples: ['2026-11-20T10:30:00.000Z'] }),
  },
  { $id: 'IssuedOperatorLink', description: 'A one-time link with which an operator signs in.' },
);
export type IssuedOperatorLink = Static<typeof IssuedOperatorLink>;

export const OperatorRoleChange = Type.Object(
  {
    role: oneOf(OPERATOR_ROLES, { examples: ['admin'] }),
    reason: Type.Optional(reason),
    expected_version: expectedVersion,
  },
  { $id: 'OperatorRoleChange', additionalProperties: false },
);
export type OperatorRoleChange = Static<typeof OperatorRoleChange>;

export const OperatorDisable = Type.Object(
  { reason, expected_version: expectedVersion },
  { $id: 'OperatorDisable', additionalProperties: false },
);
export type OperatorDisable = Static<typeof OperatorDisable>;

/** To enable or to reset an operator. */
export const OperatorStateChange = Type.Object(
  { reason: Type.Optional(reason), expected_version: expectedVersion },
  { $id: 'OperatorStateChange', additionalProperties: false },
);
export type OperatorStateChange = Static<typeof OperatorStateChange>;
