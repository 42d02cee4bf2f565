import { type Static, Type } from 'typebox';

import { listResource } from './list-resource.ts';
import { operation } from './operation.ts';
import {
  dateTime,
  freeObject,
  integer,
  nullable,
  nullableString,
  ref,
  text,
  uuid,
} from './schema.ts';

export const AuditEntry = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    sequence: Type.Integer({ description: 'Its number in the chain.', examples: [1234] }),
    occurred_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    actor: Type.String({
      description: '`operator:…`, `api_key:…`, `cli:…`, or `latchkey`: the service itself.',
      examples: ['operator:anna@example.com'],
    }),
    action: Type.String({ examples: ['license.suspend'] }),
    subject_id: Type.String({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3e'] }),
    reason: nullableString({ examples: ['The customer asked for it'] }),
    details: freeObject({
      description: 'The changed values, without keys and addresses.',
      examples: [{ role: 'support' }],
    }),
    hash: Type.String({
      description: 'The hash of the entry and of the chain before it: 64 hex digits.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  { $id: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

const MAX_FILTER_LENGTH = 320;
const MAX_TIME_LENGTH = 40;

export const auditEntries = listResource({
  id: 'AuditEntries',
  name: 'audit',
  title: 'audit entries',
  path: 'audit',
  item: AuditEntry,
  sorts: ['-occurred_at'],
  search: 'Beginnings of words of the actor, the action, the subject and the reason.',
  filters: {
    since: Type.Optional(
      text({
        description: 'From this date (00:00 UTC) or date-time on.',
        maxLength: MAX_TIME_LENGTH,
        examples: ['2026-11-01'],
      }),
    ),
    until: Type.Optional(
      text({
        description: 'Before this date (00:00 UTC) or date-time.',
        maxLength: MAX_TIME_LENGTH,
        examples: ['2026-12-01'],
      }),
    ),
    actor: Type.Optional(
      text({
        description:
          'An account from any source (`anna`), or from one (`operator:anna@example.com`).',
        maxLength: MAX_FILTER_LENGTH,
      }),
    ),
    action: Type.Optional(
      text({
        description: 'An action (`license.reveal`), or all actions of a noun (`license`).',
        maxLength: MAX_FILTER_LENGTH,
      }),
    ),
    subject_id: Type.Optional(
      text({
        description: 'The id of a license, an operator or another subject.',
        maxLength: MAX_FILTER_LENGTH,
      }),
    ),
  },
  permissions: { read: 'audit:read', export: 'audit:export' },
  columns: [
    'sequence',
    'occurred_at',
    'actor',
    'action',
    'subject_id',
    'reason',
    'details',
    'hash',
  ],
});

const sequence = integer({ minimum: 1, maximum: 999_999_999_999_999, examples: [1234] });

const hash = text({
  description: '64 hex digits.',
  maxLength: 64,
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});

const AuditPoint = Type.Object(
  { sequence, hash },
  { $id: 'AuditPoint', description: 'An entry of the chain.', additionalProperties: false },
);

const problem = nullableString({
  description: 'The first problem; null: none.',
  examples: ['Entry 3 is missing.'],
});

const AuditChain = Type.Object(
  {
    entries: Type.Integer({ examples: [1234] }),
    checked: Type.Integer({
      description: 'How many of the newest entries were verified for this answer.',
      examples: [1000],
    }),
    problem,
  },
  { $id: 'AuditChain', description: 'The state of the chain at its newest end.' },
);
export type AuditChain = Static<typeof AuditChain>;

export const showAuditChain = operation({
  id: 'showAuditChain',
  method: 'GET',
  path: 'audit/chain',
  summary: 'Show the state of the audit chain',
  description: 'Verifies the newest 1,000 entries.',
  permission: 'audit:read',
  response: ref(AuditChain, 'The state of the chain.'),
});

const AuditVerify = Type.Object(
  {
    after: Type.Optional(
      ref(AuditPoint, 'The `last` of the previous answer; default: from the first entry.'),
    ),
    expected: Type.Optional(
      ref(AuditPoint, 'An entry that was noted elsewhere: the chain must contain it.'),
    ),
  },
  { $id: 'AuditVerify', additionalProperties: false },
);

const AuditVerification = Type.Object(
  {
    verified: Type.Integer({ description: 'Entries verified by this request.', examples: [1234] }),
    problem,
    complete: Type.Boolean({
      description: 'Whether the chain was verified up to its newest entry.',
    }),
    last: nullable(
      Type.Unsafe<{ sequence: number; hash: string; occurred_at: string }>({
        type: 'object',
        description:
          'The last verified entry: `after` of the next request until `complete`. Note the head elsewhere: a chain that contains it later was not changed up to it.',
        properties: {
          sequence: { type: 'integer' },
          hash: { type: 'string' },
          occurred_at: { type: 'string' },
        },
        required: ['sequence', 'hash', 'occurred_at'],
      }),
    ),
  },
  { $id: 'AuditVerification' },
);
export type AuditVerification = Static<typeof AuditVerification>;

export const verifyAuditLog = operation({
  id: 'verifyAuditLog',
  method: 'POST',
  path: 'audit/verify',
  summary: 'Verify a part of the audit log',
  description:
    'Verifies up to 20,000 entries. Repeat it with `last` as `after` until `complete`; a problem ends the verification.',
  permission: 'audit:read',
  body: ref(AuditVerify),
  response: ref(AuditVerification, 'The result of this part.'),
});
