import assert from 'node:assert/strict';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { errorCatalogue, type ErrorCode } from '@latchkey/contract/error-catalogue';

import type { Answer } from '../http-client.ts';

/** Returns the body of the problem with this code. */
export function problem(
  code: ErrorCode,
  more: { readonly detail?: string; readonly [member: string]: unknown } = {},
): Readonly<Record<string, unknown>> {
  const { status, title, meaning } = errorCatalogue[code];
  return { type: `/docs/errors#${code}`, title, status, detail: meaning, code, ...more };
}

/** Parses a body that is an object. */
export function readBody(body: unknown): Readonly<Record<string, unknown>> {
  return Parse(Type.Record(Type.String(), Type.Unknown()), body);
}

/** Returns the body of a 200. */
export function readAnswer({ body, status, text }: Answer): Readonly<Record<string, unknown>> {
  assert.equal(status, 200, text);
  return readBody(body);
}

/** Parses a list of objects. */
export function readList(value: unknown): Readonly<Record<string, unknown>>[] {
  return Parse(Type.Array(Type.Unknown()), value).map(readBody);
}

/** Returns the 422 for a fingerprint beyond its limits. */
export function fingerprintError(what: string) {
  const loc = ['body', 'machine_fingerprint'];
  return { detail: [{ loc, msg: `machine_fingerprint ${what}`, type: 'value_error' }] };
}

const Faults = Type.Object({
  detail: Type.Array(
    Type.Object({
      loc: Type.Array(Type.Union([Type.String(), Type.Number()])),
      type: Type.String(),
    }),
  ),
});

/** Returns location and type of each error of a 422. */
export function validationErrorsOf(body: unknown): [place: string, type: string][] {
  return Parse(Faults, body).detail.map(({ loc, type }) => [loc.join('.'), type]);
}

/** Parses the items of a list. */
export function readItems(body: unknown): Readonly<Record<string, unknown>>[] {
  const { items } = Parse(Type.Object({ items: Type.Array(Type.Unknown()) }), body);
  return items.map(readBody);
}
