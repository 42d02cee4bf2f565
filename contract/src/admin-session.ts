import { type Static, Type } from 'typebox';

import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, OPERATOR_ROLES } from './constants.ts';
import { dateTime, email, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

export const MAX_NAME_LENGTH = 200;
const MAX_CODE_LENGTH = 40;

const linkToken = text({
  description: 'The part of the one-time link after the `#`.',
  maxLength: 100,
  examples: ['3q2-7wQ0m1v8Xb4nJ5cZ9rT6yU2kL0pS1dF3gH5jK7A'],
});

/** What a new password must be; the use case checks its length in characters. */
const NEW_PASSWORD = `The new password: ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;

const newPassword = (description: string) =>
  text({
    description,
    maxLength: MAX_PASSWORD_LENGTH,
    examples: ['correct horse battery staple'],
  });

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

export const OperatorLinkRequest = Type.Object(
  { token: linkToken },
  { $id: 'OperatorLinkRequest' },
);
export type OperatorLinkRequest = Static<typeof OperatorLinkRequest>;

export const OperatorLink = Type.Object(
  {
    email: nullableString({
      description: 'Null for the link that creates the first operator.',
      examples: ['anna@example.com'],
    }),
    name: Type.String({ examples: ['Anna'] }),
    role: oneOf(OPERATOR_ROLES, { examples: ['support'] }),
    expires_at: dateTime({ examples: ['2026-11-20T10:30:00.000Z'] }),
  },
  { $id: 'OperatorLink', description: 'The operator that a one-time link belongs to.' },
);
export type OperatorLink = Static<typeof OperatorLink>;

export const OperatorLinkRedeem = Type.Object(
  {
    token: linkToken,
    email: Type.Optional(
      email({
        description: 'Required for the link that creates the first operator, else ignored.',
        examples: ['anna@example.com'],
      }),
    ),
    name: Type.Optional(
      text({
        description: 'The name of the operator; default: the name that was set before.',
        maxLength: MAX_NAME_LENGTH,
        examples: ['Anna'],
      }),
    ),
    password: Type.Optional(
      newPassword(
        `${NEW_PASSWORD} Required, unless passwords are switched off: the link then signs in without one.`,
      ),
    ),
  },
  { $id: 'OperatorLinkRedeem' },
);
export type OperatorLinkRedeem = Static<typeof OperatorLinkRedeem>;

export const OperatorSignIn = Type.Object(
  { email: email({ examples: ['anna@example.com'] }), password, code: Type.Optional(code) },
  { $id: 'OperatorSignIn' },
);
export type OperatorSignIn = Static<typeof OperatorSignIn>;

export const OperatorProof = Type.Object(
  { password, code: Type.Optional(code) },
  { $id: 'OperatorProof' },
);
export type OperatorProof = Static<typeof OperatorProof>;

export const OperatorPasswordChange = Type.Object(
  { password: newPassword(NEW_PASSWORD) },
  { $id: 'OperatorPasswordChange' },
);
export type OperatorPasswordChange = Static<typeof OperatorPasswordChange>;

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

export const OperatorSession = Type.Object(
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

/** The path of an operation on one session. */
export const OperatorSessionPath = Type.Object({ id: uuid() });

export const OperatorTotpSecret = Type.Object(
  {
    secret: Type.String({
      description: 'The secret for the authenticator, in base32.',
      examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
    }),
    uri: Type.String({
      description: 'The same as an `otpauth:` URI, for a QR code.',
      examples: ['otpauth://totp/Latchkey:anna%40example.com?secret=JBSWY3DP&issuer=Latchkey'],
    }),
  },
  { $id: 'OperatorTotpSecret' },
);
export type OperatorTotpSecret = Static<typeof OperatorTotpSecret>;

export const OperatorTotpCode = Type.Object(
  {
    code: text({
      description: 'The current code of the authenticator.',
      maxLength: MAX_CODE_LENGTH,
      examples: ['492039'],
    }),
  },
  { $id: 'OperatorTotpCode' },
);
export type OperatorTotpCode = Static<typeof OperatorTotpCode>;

export const OperatorRecoveryCodes = Type.Object(
  {
    codes: Type.Array(Type.String({ examples: ['k7mq-2x9d-h4tp-w8sv'] }), {
      description: 'Each replaces a one-time code once. They cannot be shown again.',
    }),
  },
  { $id: 'OperatorRecoveryCodes' },
);
export type OperatorRecoveryCodes = Static<typeof OperatorRecoveryCodes>;

export const SignInMethods = Type.Object(
  {
    passkeys: Type.Boolean({
      description: 'Whether passkeys work: the public URL is https with a host name.',
    }),
    passwords: Type.Boolean(),
    provider: nullableString({
      description: 'The name of the OpenID Connect provider; null: none.',
      examples: ['Example login'],
    }),
    proxy: Type.Boolean({
      description: 'Whether the proxy of this request names an operator in a trusted header.',
    }),
  },
  { $id: 'SignInMethods', description: 'How operators can sign in to this service.' },
);
export type SignInMethods = Static<typeof SignInMethods>;

export const ProviderStart = Type.Object(
  {
    return_to: Type.Optional(
      text({
        description:
          'The page of the console that the provider sends the browser back to, with its query: `/console` or a path below it. Default: the start page.',
        maxLength: 2000,
        examples: ['/console/licenses?status=active'],
      }),
    ),
  },
  { $id: 'ProviderStart' },
);
export type ProviderStart = Static<typeof ProviderStart>;

export const ProviderSignIn = Type.Object(
  { url: Type.String({ examples: ['https://login.example.com/authorize?client_id=latchkey'] }) },
  { $id: 'ProviderSignIn', description: 'The page of the provider, which the browser opens next.' },
);
export type ProviderSignIn = Static<typeof ProviderSignIn>;

/** The answer of an operation without a result. */
export const Done = Type.Object({ done: Type.Literal(true) }, { $id: 'Done' });
export type Done = Static<typeof Done>;
