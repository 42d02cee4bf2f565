import type { InstalledFacts, InstallMode } from '../facts.ts';
import type { Step } from '../steps.ts';

export interface Plan {
  readonly kind: 'plan';
  readonly mode: InstallMode;
  /** The port that the agent will listen on. */
  readonly agentPort: number;
  /** In the order in which they are applied. */
  readonly steps: readonly Step[];
  /** Sentences for the administrator: facts found, and remaining tasks. */
  readonly notes: readonly string[];
  /** The lines to add to the web server; null where nothing remains. */
  readonly manualSteps: ManualSteps | null;
  /** Reasons against applying it now: a dry run prints them, and an installation stops. */
  readonly objections: readonly string[];
  /** certbot's names of the certificates to keep, even those that an earlier installation obtained. */
  readonly keptCertificates: readonly string[];
  /** The register of the finished installation. */
  readonly installed: InstalledFacts;
}

/** Lines for a web server that the administrator configures. */
export interface ManualSteps {
  readonly instructions: string;
  /** Whether an earlier installation printed the same; it is printed again only where the route fails. */
  readonly isRepeated: boolean;
}

/** The reasons for which nothing can be installed: sentences, each with its fix. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly reasons: readonly string[];
  /** Whether an option is missing, which has its own exit code. */
  readonly lacksOption: boolean;
}

/** The administrator must configure the web server. */
export interface Manual {
  readonly kind: 'manual';
  /** One sentence. */
  readonly reason: string;
  readonly instructions: string;
}

export function refuse(...reasons: readonly string[]): Refusal {
  return { kind: 'refusal', reasons, lacksOption: false };
}

/** The part of a plan that depends on its mode. */
export interface Draft extends Pick<Plan, 'manualSteps' | 'notes' | 'objections' | 'steps'> {
  readonly kind: 'draft';
}
