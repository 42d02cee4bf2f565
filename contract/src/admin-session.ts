/** The session of an operator: signing in and out, proof of freshness, and the operator's sessions. */
import { type Static, Type } from 'typebox';

import { MAX_PASSWORD_LENGTH, OPERATOR_ROLES } from './constants.ts';
import { operation } from './operation.ts';
import { dateTime, email, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

export const MAX_CODE_LENGTH = 40;

const password = text({
  maxLength: MAX_PASSWORD_LENGTH,
  examples: ['correct horse battery staple'],
});

const code = nullable(
  text({
    description:
      'The current code of the authenticator, or a recovery code; needed if one-time codes are enabled.',
    maxLength: MAX_CODE_LENGTH,
    examples: ['492039'],
  }),
);

const OperatorSignIn = Type.Object(
  { email: email({ examples: ['anna@example.com'] }), password, code: Type.Optional(code) },
  { $id: 'OperatorSignIn', additionalProperties: false },
);
export type OperatorSignIn = Static<typeof OperatorSignIn>;

const OperatorProof = Type.Object(
  { password, code: Type.Optional(code) },
  { $id: 'OperatorProof', additionalProperties: false },
);
export type OperatorProof = Static<typeof OperatorProof>;

export const CurrentOperator = Type.Object(
  {
    kind: oneOf(['session', 'api_key'], { examples: ['session'] }),
    id: nullable(
      uuid({
        description: 'The id of the operator or of the API key; null for a configured API key.',
        examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'],
      }),
    ),
    name: Type.String({ examples: ['Anna'] }),
    email: nullableString({ description: 'Null for an API key.', examples: ['anna@example.com'] }),
    role: oneOf(OPERATOR_ROLES, { examples: ['support'] }),
    fresh_until: nullable(
      dateTime({
        description:
          'Until when dangerous operations need no new proof; null for an API key, which never needs one.',
        examples: ['2026-11-20T10:10:00.000Z'],
      }),
    ),
    session_id: nullable(uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3e'] })),
    expires_at: nullable(
      dateTime({
        description: 'When the session ends at the latest; null for an API key.',
        examples: ['2026-12-20T10:00:00.000Z'],
      }),
    ),
    totp_enabled: Type.Boolean({ description: 'Whether signing in needs a one-time code.' }),
    recovery_codes_left: Type.Integer({ examples: [10] }),
    has_password: Type.Boolean(),
    passkeys: Type.Integer({ description: 'How many passkeys the operator has.', examples: [1] }),
  },
  { $id: 'CurrentOperator', description: 'The operator or the API key that sent the request.' },
);
export type CurrentOperator = Static<typeof CurrentOperator>;

const OperatorSession = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3e'] }),
    is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
    created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    last_seen_at: dateTime({
      description: 'To the minute.',
      examples: ['2026-11-20T10:00:00.000Z'],
    }),
    expires_at: dateTime({
      description: 'When it ends if it is not used again.',
      examples: ['2026-11-27T10:00:00.000Z'],
    }),
    network: Type.String({
      description: 'The IPv4 address or IPv6 /64 of the sign-in.',
      examples: ['192.0.2.7'],
    }),
    user_agent: Type.String({ examples: ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0)'] }),
  },
  { $id: 'OperatorSession' },
);
export type OperatorSession = Static<typeof OperatorSession>;

export const OperatorSessions = Type.Object(
  { items: Type.Array(ref(OperatorSession), { description: 'The newest use first.' }) },
  { $id: 'OperatorSessions' },
);
export type OperatorSessions = Static<typeof OperatorSessions>;

/** The answer of an operation without a result. */
export const Done = Type.Object({ done: Type.Literal(true) }, { $id: 'Done' });
export type Done = Static<typeof Done>;

export const signIn = operation({
  id: 'signIn',
  method: 'POST',
  path: 'session',
  summary: 'Sign in',
  description:
    'Sets the cookie of a session, which ends after 7 days without use and after 30 days. An unknown address, a disabled operator and a wrong password have the same answer.',
  permission: 'public',
  body: ref(OperatorSignIn),
  response: ref(CurrentOperator, 'The operator is signed in.'),
  errors: [
    'sign_in_failed',
    'code_required',
    'not_possible',
    'rate_limited',
    'cross_origin',
    'https_required',
  ],
});

export const proveFreshness = operation({
  id: 'proveFreshness',
  method: 'POST',
  path: 'session/prove',
  summary: 'Prove freshness again',
  description:
    'Dangerous operations need a proof of the last 10 minutes. The session gets a new cookie.',
  permission: 'session:prove',
  body: ref(OperatorProof),
  response: ref(CurrentOperator, 'The session is fresh.'),
  errors: ['sign_in_failed', 'code_required', 'not_possible', 'rate_limited', 'https_required'],
});

export const signOut = operation({
  id: 'signOut',
  method: 'POST',
  path: 'session/sign-out',
  summary: 'Sign out',
  permission: 'session:end',
  response: ref(Done, 'The session ended.'),
  errors: ['not_found'],
});

export const viewSession = operation({
  id: 'viewSession',
  method: 'GET',
  path: 'session',
  summary: 'Show who is signed in',
  permission: 'session:read',
  response: ref(CurrentOperator, 'The sender of the request.'),
});

export const listSessions = operation({
  id: 'listSessions',
  method: 'GET',
  path: 'sessions',
  summary: 'List your sessions',
  permission: 'account:read',
  response: ref(OperatorSessions, 'The newest 100 sessions.'),
});

export const revokeSession = operation({
  id: 'revokeSession',
  method: 'POST',
  path: 'sessions/:id/revoke',
  summary: 'End one of your sessions',
  permission: 'session:end',
  params: Type.Object({ id: uuid() }),
  response: ref(Done, 'The session ended.'),
  errors: ['not_found'],
});

export const revokeOtherSessions = operation({
  id: 'revokeOtherSessions',
  method: 'POST',
  path: 'sessions/revoke-others',
  summary: 'End all your other sessions',
  permission: 'session:end',
  response: ref(Done, 'Only this session is left.'),
});
