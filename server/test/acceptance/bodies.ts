import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { errorCatalogue, type ErrorCode } from '#server/error-catalogue.ts';

/** The problem that a code stands for, as a body. */
export function problem(
  code: ErrorCode,
  more: { readonly detail?: string; readonly [member: string]: unknown } = {},
): Readonly<Record<string, unknown>> {
  const { status, title, meaning } = errorCatalogue[code];
  return { type: `/docs/errors#${code}`, title, status, detail: meaning, code, ...more };
}

/** A body that is an object, to be taken apart. */
export function readBody(body: unknown): Readonly<Record<string, unknown>> {
  return Parse(Type.Record(Type.String(), Type.Unknown()), body);
}

/** The 422 for a fingerprint that passes its limits. */
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

/** Place and kind of every fault that a 422 tells. */
export function validationErrorsOf(body: unknown): [place: string, type: string][] {
  return Parse(Faults, body).detail.map(({ loc, type }) => [loc.join('.'), type]);
}
