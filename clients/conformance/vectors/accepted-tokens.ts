import { CLAIMS, claimsWith, DAY_S, headerOf, ISSUER, NOW_S, SERVICE_KEY } from './sign-token.ts';
import { FOREIGN_KEY, hashMachineId, signToken } from './sign-token.ts';
import { vector, type TokenVector } from './token-vector.ts';

const NONCE = 'q1w2e3r4t5z6u7i8';

/** Returns tokens that a client accepts although something about them is unusual. */
export function listAcceptedTokens(): TokenVector[] {
  return [
    vector('an entitlement', 'ok', signToken()),
    vector('a trial', 'ok', signToken({ payload: claimsWith({ trial: true, tier: 'trial' }) })),
    vector(
      'a license with an end',
      'ok',
      signToken({ payload: claimsWith({ license_expires_at: NOW_S + 3 * DAY_S }) }),
    ),
    vector(
      'another product of the client',
      'ok',
      signToken({ payload: claimsWith({ aud: 'solo' }) }),
    ),
    vector('a license without a tier', 'ok', signToken({ payload: claimsWith({ tier: null }) })),
    vector(
      'a claim that the client does not know',
      'ok',
      signToken({ payload: claimsWith({ seats: 5 }) }),
    ),
    vector(
      'a license with updates until a date',
      'ok',
      signToken({ payload: claimsWith({ updates_until: NOW_S - DAY_S }) }),
    ),
    ...listKeyVariants(),
    ...listSpellings(),
    ...listMachines(),
    vector(
      'the nonce of the open request',
      'ok',
      signToken({ payload: claimsWith({ nonce: NONCE }) }),
      {
        nonce: NONCE,
      },
    ),
    vector(
      'a nonce without an open request',
      'ok',
      signToken({ payload: claimsWith({ nonce: NONCE }) }),
    ),
  ];
}

function listKeyVariants(): TokenVector[] {
  const both = [FOREIGN_KEY.publicJwk, SERVICE_KEY.publicJwk];
  return [
    vector('the second of two known keys', 'ok', signToken(), { public_keys: both }),
    vector('a key without alg and use', 'ok', signToken(), {
      public_keys: [withoutUse(SERVICE_KEY.publicJwk)],
    }),
    vector('an invalid key beside the right one', 'ok', signToken(), {
      public_keys: [{ kid: 'x' }, SERVICE_KEY.publicJwk],
    }),
  ];
}

function withoutUse({ kty, crv, x, kid }: typeof SERVICE_KEY.publicJwk) {
  return { kty, crv, x, kid };
}

/** The same content in other JSON. */
function listSpellings(): TokenVector[] {
  const { alg, kid, typ } = headerOf(SERVICE_KEY);
  const json = JSON.stringify(CLAIMS);
  return [
    vector(
      'a header member that the client does not know',
      'ok',
      signToken({ header: { alg, kid, typ, cty: 'JSON' } }),
    ),
    vector('header members in another order', 'ok', signToken({ header: { typ, kid, alg } })),
    vector(
      'blanks and line breaks in the JSON',
      'ok',
      signToken({
        header: `{ "alg" : "${alg}",\r\n\t"kid" : "${kid}", "typ" : "${typ}" }\n`,
        payload: JSON.stringify(CLAIMS, null, 2),
      }),
    ),
    vector(
      'escaped characters in the JSON',
      'ok',
      signToken({ payload: json.replace(ISSUER, String.raw`https:\/\/license.ex\u0061mple.com`) }),
    ),
    vector(
      'a claim twice: the last one counts',
      'ok',
      signToken({ payload: json.replace('"aud":', '"aud":"other","aud":') }),
    ),
  ];
}

/** The digest is of the UTF-8 bytes, without any normalization. */
function listMachines(): TokenVector[] {
  const ids = [
    ['a machine id in Cyrillic', 'Станция-7'],
    ['a machine id with characters beyond 16 bits', 'lab-🔑-𝕏'],
    ['a machine id with a combining accent', 'cafe\u0301'],
    ['a machine id in capitals', 'E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B'],
    ['a machine id with blanks around it', ' board 7 '],
  ] as const;
  return ids.map(([name, id]) =>
    vector(name, 'ok', signToken({ payload: claimsWith({ machine: hashMachineId(id) }) }), {
      machine_id: id,
    }),
  );
}
