import type { BillingFact } from '../../facts.ts';

/** What an event comes to: something that counts, or the reason why nothing follows from it. */
export type Reading =
  | { readonly fact: BillingFact }
  | { readonly fact: null; readonly ignoredBecause: string };

export function ignored(ignoredBecause: string): Reading {
  return { fact: null, ignoredBecause };
}
