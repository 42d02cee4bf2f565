import type { InstalledFacts, InstallMode } from '../facts.ts';
import type { Step } from '../steps.ts';

/** What an installation will do. */
export interface Plan {
  readonly kind: 'plan';
  readonly mode: InstallMode;
  /** The port that the agent will listen on. */
  readonly agentPort: number;
  /** In their order. */
  readonly steps: readonly Step[];
  /** Sentences for the person who installs: what was found, and what is left to be done. */
  readonly notes: readonly string[];
  /** What a person must put into the web server; null where nothing is left to do. */
  readonly manualSteps: ManualSteps | null;
  /** Sentences that stand against doing it now: a rehearsal tells them, and without one nothing is begun. */
  readonly objections: readonly string[];
  /** certbot's certificates that stay, by their names, also those that an earlier installation obtained. */
  readonly keptCertificates: readonly string[];
  /** What is written down once it is done. */
  readonly installed: InstalledFacts;
}

/** Lines for a web server that a person sets up. */
export interface ManualSteps {
  readonly instructions: string;
  /** Whether an earlier installation asked for the same: then it is told again only where the way does not work. */
  readonly isRepeated: boolean;
}

/** Nothing can be done here: why, each a sentence with its fix. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly reasons: readonly string[];
  /** Whether something is missing among the options, which is told apart by its exit code. */
  readonly lacksOption: boolean;
}

/** A person must do it, for nobody else can tell what is right. */
export interface Manual {
  readonly kind: 'manual';
  /** One sentence. */
  readonly reason: string;
  /** What to put where. */
  readonly instructions: string;
}

export function refuse(...reasons: readonly string[]): Refusal {
  return { kind: 'refusal', reasons, lacksOption: false };
}

/** The part of a plan that depends on its mode. */
export interface Draft extends Pick<Plan, 'notes' | 'objections' | 'steps'> {
  /** None where this program does all of it. */
  readonly manualSteps?: Plan['manualSteps'];
  readonly kind: 'draft';
}
