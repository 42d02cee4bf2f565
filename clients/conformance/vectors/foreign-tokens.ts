import { CLAIMS, claimsWith, DAY_S, ISSUER, MACHINE_ID, NOW_S, signToken } from './sign-token.ts';
import { vector, type Circumstances, type TokenVector, type Verdict } from './token-vector.ts';

/** Returns tokens of the service for another issuer, product, machine, time or request. */
export function listForeignTokens(): TokenVector[] {
  return [
    ...listOtherIssuers(),
    ...listOtherProducts(),
    ...listOtherMachines(),
    ...listOtherTimes(),
    ...listOtherNonces(),
  ];
}

function changed(
  name: string,
  verdict: Verdict,
  changes: Readonly<Record<string, unknown>>,
  circumstances: Circumstances = {},
): TokenVector {
  return vector(name, verdict, signToken({ payload: claimsWith(changes) }), circumstances);
}

function listOtherIssuers(): TokenVector[] {
  return [
    changed('another issuer', 'issuer', { iss: 'https://other.example.com' }),
    changed('an issuer that begins like the right one', 'issuer', { iss: `${ISSUER}.example.org` }),
    changed('an issuer with a slash at the end', 'issuer', { iss: `${ISSUER}/` }),
    changed('an issuer in capitals', 'issuer', { iss: ISSUER.toUpperCase() }),
    changed('no issuer', 'issuer', { iss: undefined }),
    changed('another issuer and another product', 'issuer', { iss: 'https://x.example', aud: 'x' }),
  ];
}

function listOtherProducts(): TokenVector[] {
  return [
    changed('another product', 'audience', { aud: 'server' }),
    changed('a product in capitals', 'audience', { aud: 'Studio' }),
    changed('a product that begins like the right one', 'audience', { aud: 'studio-pro' }),
    changed('a list of products', 'audience', { aud: ['studio'] }),
    changed('no product', 'audience', { aud: undefined }),
    changed('a client without products', 'audience', {}, { products: [] }),
    changed('another product that has ended', 'audience', { aud: 'server', exp: NOW_S - 1 }),
  ];
}

function listOtherMachines(): TokenVector[] {
  const hex = Buffer.from(CLAIMS.machine, 'base64url').toString('hex');
  return [
    changed('another machine', 'machine', {}, { machine_id: 'other' }),
    changed(
      'the machine id in other letters',
      'machine',
      {},
      { machine_id: MACHINE_ID.toUpperCase() },
    ),
    changed('an unbound machine', 'machine', { machine: null }),
    changed('no machine', 'machine', { machine: undefined }),
    changed('the machine id itself', 'machine', { machine: MACHINE_ID }),
    changed('the digest in hexadecimal', 'machine', { machine: hex }),
    changed('the digest with padding', 'machine', { machine: `${CLAIMS.machine}=` }),
    changed('another machine, too late', 'machine', { exp: NOW_S - 1 }, { machine_id: 'other' }),
  ];
}

function at(milliseconds: number): Circumstances {
  return { now_ms: milliseconds };
}

function listOtherTimes(): TokenVector[] {
  const json = JSON.stringify(CLAIMS);
  return [
    changed('five minutes before its start', 'ok', {}, at((CLAIMS.nbf - 300) * 1000)),
    changed('more than five minutes before', 'early', {}, at((CLAIMS.nbf - 300) * 1000 - 1)),
    changed('a clock that stands in 1970', 'early', {}, at(0)),
    changed('the last millisecond', 'ok', {}, at(CLAIMS.exp * 1000 - 1)),
    changed('its end', 'late', {}, at(CLAIMS.exp * 1000)),
    changed('a year after its end', 'late', {}, at((CLAIMS.exp + 365 * DAY_S) * 1000)),
    changed('an end in 1970', 'late', { exp: 0 }),
    changed('a negative end', 'late', { exp: -1 }),
    changed('a start after the end', 'early', { nbf: NOW_S + 900, exp: NOW_S - 900 }),
    vector(
      'an end twice, the last one past',
      'late',
      signToken({ payload: json.replace(/\}$/, `,"exp":${NOW_S - 1}}`) }),
    ),
  ];
}

function listOtherNonces(): TokenVector[] {
  const expected = { nonce: 'q1w2e3r4t5z6u7i8' };
  return [
    changed('the nonce of another request', 'nonce', { nonce: 'a1b2c3d4e5f6g7h8' }, expected),
    changed('no nonce', 'nonce', {}, expected),
    changed('a nonce in other letters', 'nonce', { nonce: 'Q1W2E3R4T5Z6U7I8' }, expected),
    changed('a nonce that is null', 'nonce', { nonce: null }, expected),
    changed('the nonce of another request, too late', 'late', { nonce: 'a', exp: NOW_S }, expected),
  ];
}
