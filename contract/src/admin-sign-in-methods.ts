/** How operators sign in without a password of this service, and what it offers. */
import { type Static, Type } from 'typebox';

import { CurrentOperator } from './admin-session.ts';
import { operation } from './operation.ts';
import { nullableString, ref, text } from './schema.ts';

const SignInMethods = Type.Object(
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

const ProviderStart = Type.Object(
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
  { $id: 'ProviderStart', additionalProperties: false },
);

const ProviderSignIn = Type.Object(
  { url: Type.String({ examples: ['https://login.example.com/authorize?client_id=latchkey'] }) },
  { $id: 'ProviderSignIn', description: 'The page of the provider, which the browser opens next.' },
);

export const listSignInMethods = operation({
  id: 'listSignInMethods',
  method: 'GET',
  path: 'session/methods',
  summary: 'Show how operators can sign in',
  permission: 'public',
  response: ref(SignInMethods, 'The methods of this service.'),
  errors: ['cross_origin'],
});

export const signInByProxy = operation({
  id: 'signInByProxy',
  method: 'POST',
  path: 'session/proxy',
  summary: 'Sign in as the operator that a trusted proxy names',
  permission: 'public',
  response: ref(CurrentOperator, 'The operator is signed in.'),
  errors: ['sign_in_failed', 'cross_origin', 'https_required'],
});

export const proveByProxy = operation({
  id: 'proveByProxy',
  method: 'POST',
  path: 'session/proxy/prove',
  summary: 'Prove freshness as the operator that a trusted proxy names',
  permission: 'session:prove',
  response: ref(CurrentOperator, 'The session has a new token.'),
  errors: ['sign_in_failed', 'https_required'],
});

export const beginProviderSignIn = operation({
  id: 'beginProviderSignIn',
  method: 'POST',
  path: 'session/provider/begin',
  summary: 'Begin to sign in with the identity provider',
  description:
    'The browser opens `url` next; the provider sends it back to the page `return_to`. A failure adds `problem=provider` to its query.',
  permission: 'public',
  body: ref(ProviderStart),
  response: ref(ProviderSignIn, 'The page of the provider.'),
  errors: ['not_possible', 'cross_origin', 'https_required', 'provider_unavailable'],
});

export const beginProviderProof = operation({
  id: 'beginProviderProof',
  method: 'POST',
  path: 'session/provider/prove',
  summary: 'Begin to prove freshness with the identity provider',
  description:
    'As above. The provider must state when it asked for the credential (`auth_time`): an earlier sign-in there proves nothing.',
  permission: 'session:prove',
  body: ref(ProviderStart),
  response: ref(ProviderSignIn, 'The page of the provider.'),
  errors: ['not_possible', 'https_required', 'provider_unavailable'],
});
