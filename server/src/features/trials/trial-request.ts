import type { Carrier } from '#server/db/batching/batcher.ts';

import type { PresentedMachine } from '../licenses/read-machine.ts';
import type { Trial } from './trial.ts';

/** A machine that asks for a trial. */
export interface TrialRequest {
  /** Two machines share a trial when they share one of these; sorted. */
  readonly claims: readonly string[];
  /** The same claims under the previous master secrets; empty except during a rotation. */
  readonly olderClaims: readonly string[];
  readonly machine: PresentedMachine;
  readonly installId: string | null;
}

/** Trials, each request with its own, many at a time. */
export type TrialBatch = Carrier<TrialRequest, Trial>;
