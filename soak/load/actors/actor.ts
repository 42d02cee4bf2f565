import type { Expectations } from '../../expectations/expectations.ts';
import type { Violations } from '../../expectations/violations.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { HttpClient } from '../http-client.ts';

/** What actors need. */
export interface LoadContext {
  readonly client: HttpClient;
  readonly ledger: Ledger;
  readonly expectations: Expectations;
  readonly violations: Violations;
  /** Machines that were activated before the day. */
  readonly machines: number;
  /** The API key of the operator interface and of outreach. */
  readonly apiKey: string;
}

/**
 * Does one planned request, with those that follow from it, and records what was acknowledged.
 * @param number from 0, in the order of the plan
 * @param dueAt `performance.now()`
 */
export type Actor = (context: LoadContext, number: number, dueAt: number) => Promise<void>;

/** Far more than the machines of a run need, so that all of them have their turn before one has its second. */
const STRIDES = [7_919, 7_907] as const;

/** Returns the machine of the nth request: each machine once, in mixed order, then again. */
export function chooseMachine(number: number, machines: number): number {
  const stride = machines % STRIDES[0] === 0 ? STRIDES[1] : STRIDES[0];
  return (number * stride) % machines;
}

/** The installation of a machine. */
export function installOf(machine: number): string {
  return `00000000-0000-4000-8000-${String(machine).padStart(12, '0')}`;
}

/** Clients that are no seeded machine have addresses of their own, from this number on. */
export const OTHER_CLIENTS = 8_000_000;
