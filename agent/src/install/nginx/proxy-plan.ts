import type { EditStep, FileStep } from '../steps.ts';

/** How the route through nginx is configured, or why it is not. */
export type ProxyPlan = DedicatedPlan | ExistingPlan | ManualPlan | RefusedPlan;

/**
 * No block serves the domain with TLS. The challenge is loaded first, then the certificate is issued, then the server is
 * loaded.
 */
export interface DedicatedPlan {
  readonly kind: 'dedicated';
  /** The zone that counts connections per client; null where nginx loads no directory for it. */
  readonly limits: FileStep | null;
  readonly server: FileStep;
  readonly challenge: { readonly files: readonly FileStep[]; readonly edits: readonly EditStep[] };
  readonly notes: readonly string[];
}

/** The domain's own block includes the route by one line; `edits` is empty where it does already. */
export interface ExistingPlan {
  readonly kind: 'existing';
  /** The zone that counts connections per client; null where nginx loads no directory for it. */
  readonly limits: FileStep | null;
  readonly route: FileStep;
  readonly edits: readonly EditStep[];
  readonly notes: readonly string[];
}

/** The administrator pasted the route, so nothing is written. */
export interface ManualPlan {
  readonly kind: 'manual';
  readonly notes: readonly string[];
}

/** The effect of a change cannot be predicted. */
export interface RefusedPlan {
  readonly kind: 'refused';
  /** One sentence. */
  readonly reason: string;
  /** The text to paste, and where. */
  readonly instructions: string;
}
