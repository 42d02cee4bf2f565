import { CLAIMS, claimsWith, headerOf, SERVICE_KEY, signToken } from './sign-token.ts';
import { vector, type TokenVector } from './token-vector.ts';

/** Returns texts that are no entitlement, whichever key signed them. */
export function listMalformedTokens(): TokenVector[] {
  return [...listBrokenTexts(), ...listBrokenHeaders(), ...listBrokenPayloads()].map(
    ([name, token]) => vector(name, 'malformed', token),
  );
}

type Named = readonly [name: string, token: string];

function listBrokenTexts(): Named[] {
  const token = signToken();
  const [header = '', payload = '', signature = ''] = token.split('.');
  return [
    ['an empty text', ''],
    ['a text without dots', 'entitlement'],
    ['a token without its signature part', `${header}.${payload}`],
    ['a fourth part', `${token}.${signature}`],
    ['an empty header', `.${payload}.${signature}`],
    ['an empty payload', `${header}..${signature}`],
    ['an empty signature', `${header}.${payload}.`],
    ['a dot at the end', `${token}.`],
    ['a line break at the end', `${token}\n`],
    ['a blank before the token', ` ${token}`],
    ['a line break inside', `${header}.${payload.slice(0, 40)}\n${payload.slice(40)}.${signature}`],
    ['padding at the signature', `${token}==`],
    ['the signature in the alphabet of base64', `${header}.${payload}.+/${signature.slice(2)}`],
    ['a letter outside ASCII', `${header}.${payload}.ä${signature.slice(1)}`],
    ['a signature part of an impossible length', `${header}.${payload}.${signature.slice(0, 85)}`],
    ['the signature encoded again', `${header}.${payload}.${encodeAgain(signature)}`],
    ['the header encoded again', withUnusedBits('header')],
    ['the payload encoded again', withUnusedBits('payload')],
    ['the token as JSON', JSON.stringify({ protected: header, payload, signature })],
  ];
}

/** Sets the unused bits of the last character, so that the text changes and its bytes do not. */
function encodeAgain(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(part.slice(-1));
  return part.slice(0, -1) + alphabet.charAt(last + 1);
}

/** Signs a token whose part has unused bits, and sets them. */
function withUnusedBits(which: 'header' | 'payload'): string {
  const { alg, kid, typ } = headerOf(SERVICE_KEY);
  for (const filler of ['', 'x', 'xx']) {
    const token = signToken({
      header: { alg, kid, typ, cty: filler },
      payload: claimsWith({ note: filler }),
    });
    const [header = '', payload = '', signature = ''] = token.split('.');
    const part = which === 'header' ? header : payload;
    if (part.length % 4 === 0) continue;
    return which === 'header'
      ? `${encodeAgain(header)}.${payload}.${signature}`
      : `${header}.${encodeAgain(payload)}.${signature}`;
  }
  throw new Error(`no ${which} has unused bits`);
}

function listBrokenHeaders(): Named[] {
  const { alg, kid, typ } = headerOf(SERVICE_KEY);
  const headers: readonly (readonly [string, object | string])[] = [
    ['a header that is no JSON', 'entitlement'],
    ['a header that is an array', '[]'],
    ['a header that is a text', '"EdDSA"'],
    ['a header with text after the JSON', `${JSON.stringify({ alg, kid, typ })} .`],
    ['the type of another token', { alg, kid, typ: 'JWT' }],
    ['the type in capitals', { alg, kid, typ: 'Entitlement+JWT' }],
    ['no type', { alg, kid }],
    ['a critical extension', { alg, kid, typ, crit: ['b64'], b64: false }],
    ['an empty list of critical extensions', { alg, kid, typ, crit: [] }],
    ['no kid', { alg, typ }],
    ['a kid that is a number', { alg, kid: 1, typ }],
    ['a kid that is null', { alg, kid: null, typ }],
  ];
  return headers.map(([name, header]) => [name, signToken({ header })]);
}

function listBrokenPayloads(): Named[] {
  const times = ['iat', 'nbf', 'exp'].flatMap((name): Named[] => [
    [`no ${name}`, signToken({ payload: claimsWith({ [name]: undefined }) })],
    [`${name} as a text`, signToken({ payload: claimsWith({ [name]: String(CLAIMS.exp) }) })],
    [`a fraction in ${name}`, signToken({ payload: claimsWith({ [name]: CLAIMS.iat + 0.5 }) })],
    [`${name} is true`, signToken({ payload: claimsWith({ [name]: true }) })],
    [`${name} is null`, signToken({ payload: claimsWith({ [name]: null }) })],
  ]);
  return [
    ['a payload that is no JSON', signToken({ payload: 'entitlement' })],
    ['a payload that is cut', signToken({ payload: JSON.stringify(CLAIMS).slice(0, -1) })],
    ['a payload that is an array', signToken({ payload: JSON.stringify([CLAIMS]) })],
    ['a payload that is null', signToken({ payload: 'null' })],
    ...times,
  ];
}
