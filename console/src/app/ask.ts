/** Questions to the operator that interrupt a request: a dialog answers them, and the request goes on. */
import { signal } from '@preact/signals';

/** `proof`: the session is not fresh. `sign_in`: the session ended under an open page. */
export type Question = 'proof' | 'sign_in';

/** The open question. */
export const question = signal<Question | null>(null);

let pending: { readonly promise: Promise<boolean>; readonly answer: (ok: boolean) => void } | null =
  null;

/** Asks; concurrent requests share one question. @returns whether the operator answered it */
export function ask(what: Question): Promise<boolean> {
  if (pending !== null) return pending.promise;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  pending = { promise, answer: resolve };
  question.value = what;
  return promise;
}

/** Closes the question. */
export function answer(ok: boolean): void {
  const { answer: resolve } = pending ?? {};
  pending = null;
  question.value = null;
  resolve?.(ok);
}
