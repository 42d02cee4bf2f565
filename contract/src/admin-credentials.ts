/** The credentials of an operator: one-time links, password, one-time codes, recovery codes. */
import { type Static, Type } from 'typebox';

import { CurrentOperator, Done, MAX_CODE_LENGTH } from './admin-session.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, OPERATOR_ROLES } from './constants.ts';
import { operation } from './operation.ts';
import { dateTime, email, nullableString, oneOf, ref, text } from './schema.ts';

export const MAX_NAME_LENGTH = 200;

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

const OperatorLinkRequest = Type.Object(
  { token: linkToken },
  { $id: 'OperatorLinkRequest', additionalProperties: false },
);

const OperatorLink = Type.Object(
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

const OperatorLinkRedeem = Type.Object(
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
  { $id: 'OperatorLinkRedeem', additionalProperties: false },
);
export type OperatorLinkRedeem = Static<typeof OperatorLinkRedeem>;

const OperatorPasswordChange = Type.Object(
  { password: newPassword(NEW_PASSWORD) },
  { $id: 'OperatorPasswordChange', additionalProperties: false },
);

const OperatorTotpSecret = Type.Object(
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

const OperatorTotpCode = Type.Object(
  {
    code: text({
      description: 'The current code of the authenticator.',
      maxLength: MAX_CODE_LENGTH,
      examples: ['492039'],
    }),
  },
  { $id: 'OperatorTotpCode', additionalProperties: false },
);

const OperatorRecoveryCodes = Type.Object(
  {
    codes: Type.Array(Type.String({ examples: ['k7mq-2x9d-h4tp-w8sv'] }), {
      description: 'Each replaces a one-time code once. They cannot be shown again.',
    }),
  },
  { $id: 'OperatorRecoveryCodes' },
);
export type OperatorRecoveryCodes = Static<typeof OperatorRecoveryCodes>;

export const viewOperatorLink = operation({
  id: 'viewOperatorLink',
  method: 'POST',
  path: 'session/link',
  summary: 'Show whose one-time link it is',
  permission: 'public',
  body: ref(OperatorLinkRequest),
  response: ref(OperatorLink, 'The link can be redeemed.'),
  errors: ['link_invalid', 'rate_limited', 'cross_origin'],
});

export const redeemOperatorLink = operation({
  id: 'redeemOperatorLink',
  method: 'POST',
  path: 'session/redeem',
  summary: 'Redeem a one-time link',
  description:
    'Sets the password of the operator, unless passwords are switched off, and signs in. A link works once.',
  permission: 'public',
  body: ref(OperatorLinkRedeem),
  response: ref(CurrentOperator, 'The operator is signed in.'),
  errors: ['link_invalid', 'not_possible', 'rate_limited', 'cross_origin', 'https_required'],
});

export const changeOperatorPassword = operation({
  id: 'changeOperatorPassword',
  method: 'POST',
  path: 'session/password',
  summary: 'Change your password',
  description: 'Ends all your other sessions.',
  permission: 'account:change',
  body: ref(OperatorPasswordChange),
  response: ref(Done, 'The password was changed.'),
  errors: ['not_possible'],
});

export const beginTotp = operation({
  id: 'beginTotp',
  method: 'POST',
  path: 'session/totp',
  summary: 'Create a secret for one-time codes',
  description:
    'It is not used before it is confirmed by a code. One-time codes that are enabled must be disabled first.',
  permission: 'account:change',
  response: ref(OperatorTotpSecret, 'The secret, which cannot be shown again.'),
  errors: ['totp_state'],
});

export const enableTotp = operation({
  id: 'enableTotp',
  method: 'POST',
  path: 'session/totp/enable',
  summary: 'Enable one-time codes',
  permission: 'account:change',
  body: ref(OperatorTotpCode),
  response: ref(OperatorRecoveryCodes, 'Signing in needs a code from now on.'),
  errors: ['sign_in_failed', 'totp_state'],
});

export const disableTotp = operation({
  id: 'disableTotp',
  method: 'POST',
  path: 'session/totp/disable',
  summary: 'Disable one-time codes',
  permission: 'account:change',
  response: ref(Done, 'Signing in needs no code.'),
});

export const renewRecoveryCodes = operation({
  id: 'renewRecoveryCodes',
  method: 'POST',
  path: 'session/recovery-codes',
  summary: 'Replace your recovery codes',
  permission: 'account:change',
  response: ref(OperatorRecoveryCodes, 'The previous codes are void.'),
  errors: ['totp_state'],
});
