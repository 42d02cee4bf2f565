import type { Context } from '#server/context.ts';

import type { MachineUse, PlannedIssue, PlannedSale, Plans } from '../world/plan.ts';
import type { Random } from '../random.ts';

/** What the steps of filling the demo's database share. */
export interface World {
  readonly context: Context;
  readonly random: Random;
  readonly nowMs: number;
  readonly plans: Plans;
  /** The licenses that were created for a purchase or issued, with their keys. */
  readonly licenses: Map<PlannedSale | PlannedIssue, StoredLicense[]>;
  /** The activations that the machines of licenses got. */
  readonly activations: Map<MachineUse, StoredActivation>;
  /** The ids of the activations of trials. */
  readonly trialActivations: Map<MachineUse, string>;
  /** The base of the URLs of the local receiver of webhooks. */
  readonly receiverUrl: string;
}

export interface StoredLicense {
  readonly id: string;
  readonly keySealed: Buffer;
}

export interface StoredActivation {
  readonly licenseId: string;
  readonly id: string;
}

/** An action of the past. */
export interface Action {
  readonly atMs: number;
  readonly run: () => Promise<unknown>;
}
