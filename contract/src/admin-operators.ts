import { type Static, Type } from 'typebox';

import { MAX_NAME_LENGTH } from './admin-credentials.ts';
import { expectedVersion, reason } from './admin-list.ts';
import { Done, OperatorSessions } from './admin-session.ts';
import { OPERATOR_ROLES } from './constants.ts';
import { listResource } from './list-resource.ts';
import { csvFile, operation } from './operation.ts';
import { dateTime, email, nullable, oneOf, ref, text, uuid } from './schema.ts';

/** `invited`: has not signed in since it was created or reset. */
export const OPERATOR_STATES = ['invited', 'active', 'disabled'] as const;

const Operator = Type.Object(
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

const OperatorCreate = Type.Object(
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

const IssuedOperatorLink = Type.Object(
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

const OperatorRoleChange = Type.Object(
  {
    role: oneOf(OPERATOR_ROLES, { examples: ['admin'] }),
    reason: Type.Optional(reason),
    expected_version: expectedVersion,
  },
  { $id: 'OperatorRoleChange', additionalProperties: false },
);

const OperatorDisable = Type.Object(
  { reason, expected_version: expectedVersion },
  { $id: 'OperatorDisable', additionalProperties: false },
);

/** To enable or to reset an operator. */
const OperatorStateChange = Type.Object(
  { reason: Type.Optional(reason), expected_version: expectedVersion },
  { $id: 'OperatorStateChange', additionalProperties: false },
);

const ofOperator = Type.Object({ id: uuid() });

/** The errors of a change of an operator. */
const CHANGE_ERRORS = ['not_found', 'conflict', 'not_possible'] as const;

export const operators = listResource({
  id: 'Operators',
  name: 'operator',
  title: 'operators',
  path: 'operators',
  item: Operator,
  sorts: ['email', 'name', 'role', 'created_at', 'last_sign_in_at'],
  search: 'A part of the name or of the e-mail address.',
  filters: {
    role: Type.Optional(oneOf(OPERATOR_ROLES)),
    state: Type.Optional(oneOf(OPERATOR_STATES)),
  },
  permissions: { read: 'operators:read', export: 'operators:export' },
});

export const showOperator = operation({
  id: 'showOperator',
  method: 'GET',
  path: 'operators/:id',
  summary: 'Show an operator',
  permission: 'operators:read',
  params: ofOperator,
  response: ref(Operator, 'The operator.'),
  errors: ['not_found'],
});

export const createOperator = operation({
  id: 'createOperator',
  method: 'POST',
  path: 'operators',
  summary: 'Create an operator',
  description:
    'The operator signs in for the first time with the one-time link, which is valid for 30 minutes, and sets a password with it.',
  permission: 'operators:create',
  body: ref(OperatorCreate),
  response: ref(IssuedOperatorLink, 'The operator is invited.'),
  errors: ['not_possible'],
});

export const changeOperatorRole = operation({
  id: 'changeOperatorRole',
  method: 'POST',
  path: 'operators/:id/role',
  summary: 'Change the role of an operator',
  description:
    'Open sessions have it at once. The last administrator who can sign in keeps the role.',
  permission: 'operators:change',
  params: ofOperator,
  body: ref(OperatorRoleChange),
  response: ref(Operator, 'The operator with the new role.'),
  errors: CHANGE_ERRORS,
});

export const disableOperator = operation({
  id: 'disableOperator',
  method: 'POST',
  path: 'operators/:id/disable',
  summary: 'Disable an operator',
  description:
    'Ends every session at once. Your own account and the last administrator who can sign in cannot be disabled.',
  permission: 'operators:change',
  params: ofOperator,
  body: ref(OperatorDisable),
  response: ref(Operator, 'The disabled operator.'),
  errors: CHANGE_ERRORS,
});

export const enableOperator = operation({
  id: 'enableOperator',
  method: 'POST',
  path: 'operators/:id/enable',
  summary: 'Enable an operator',
  permission: 'operators:change',
  params: ofOperator,
  body: ref(OperatorStateChange),
  response: ref(Operator, 'The operator signs in as before.'),
  errors: CHANGE_ERRORS,
});

export const resetOperator = operation({
  id: 'resetOperator',
  method: 'POST',
  path: 'operators/:id/reset',
  summary: 'Reset an operator',
  description:
    'Removes the password and the second factors, ends every session, and creates a one-time link. Your own account cannot be reset.',
  permission: 'operators:change',
  params: ofOperator,
  body: ref(OperatorStateChange),
  response: ref(IssuedOperatorLink, 'The operator is invited again.'),
  errors: CHANGE_ERRORS,
});

export const listSessionsOfOperator = operation({
  id: 'listSessionsOfOperator',
  method: 'GET',
  path: 'operators/:id/sessions',
  summary: 'List the sessions of an operator',
  permission: 'operators:read',
  params: ofOperator,
  response: ref(OperatorSessions, 'The newest 100 sessions.'),
  errors: ['not_found'],
});

export const exportSessionsOfOperator = operation({
  id: 'exportSessionsOfOperator',
  method: 'GET',
  path: 'operators/:id/sessions/export',
  summary: 'Export the sessions of an operator as CSV',
  description: 'The audit log records it.',
  permission: 'operators:export',
  params: ofOperator,
  response: csvFile('One line for each session, the newest use first.'),
  errors: ['not_found'],
});

export const revokeSessionsOfOperator = operation({
  id: 'revokeSessionsOfOperator',
  method: 'POST',
  path: 'operators/:id/sessions/revoke',
  summary: 'End all sessions of an operator',
  description: 'The session of the request stays.',
  permission: 'operators:change',
  params: ofOperator,
  response: ref(Done, 'No other session is left.'),
});

export const revokeSessionOfOperator = operation({
  id: 'revokeSessionOfOperator',
  method: 'POST',
  path: 'operators/:id/sessions/:session_id/revoke',
  summary: 'End a session of an operator',
  permission: 'operators:change',
  params: Type.Object({ id: uuid(), session_id: uuid() }),
  response: ref(Done, 'The session ended.'),
  errors: ['not_found'],
});
