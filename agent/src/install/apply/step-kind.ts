import type { Step } from '../steps.ts';
import type { CapturedState, Entry, JournalFacts, Subject } from './journal-entry.ts';
import type { BackedUpMachine } from './path-state.ts';

export interface StepContext extends BackedUpMachine {
  readonly changed: Changes;
  /** Prints a sentence for the administrator. */
  readonly report: (sentence: string) => void;
  readonly services: InstallServices;
  /** Whether this is an uninstallation, and not the undo of a failed or interrupted run. */
  readonly isUninstallation: boolean;
}

/** Dependencies of steps beside files and programs. */
export interface InstallServices {
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => Date;
  readonly domain: string;
  /** The directory of nginx's main file. */
  readonly nginxDirectory: string;
  /** The warnings of `nginx -t` before the installation. */
  readonly nginxWarnings: readonly string[];
  /** Whether the plan keeps a certificate of certbot. @param name certbot's name for it */
  readonly keepsCertificate: (name: string) => boolean;
  /** Requests the challenge probe; null when an authority would get it, otherwise the problem. */
  readonly checkChallenge: (domain: string) => Promise<string | null>;
  /** Requests the health route through nginx; null when it answers, otherwise the problem. */
  readonly probeProxy: () => Promise<string | null>;
  /** Creates the authority and what it signs, where they are missing. */
  readonly ensureAuthority: (order: AuthorityRequest) => Promise<void>;
  /** Whether everything that the authority creates exists and is valid. */
  readonly isAuthorityReady: (order: AuthorityRequest) => Promise<boolean>;
  /** Whether client certificates were issued or revoked since. @param earlier the register then; null when there was none */
  readonly hasIssuedSince: (earlier: string | null) => boolean;
}

export interface AuthorityRequest {
  readonly domain: string;
  readonly withProxyCertificate: boolean;
}

/** How steps of one kind are applied and undone. */
export interface StepKind<Kind extends Step> {
  /** Returns the title for progress and plan: `Install certbot`. */
  readonly describe: (step: Kind) => string;
  readonly findSubject: (step: Kind) => Subject;
  /** Whether the machine already has the result of the step. */
  readonly isSatisfied: (step: Kind, context: StepContext) => Promise<boolean>;
  /** Captures the state that the step is about to change. */
  readonly capture: (subject: Subject, context: StepContext) => Promise<CapturedState>;
  /**
   * @param before the result of `capture`, as in the journal
   * @returns the result of the step, to detect later changes by others
   */
  readonly apply: (
    step: Kind,
    context: StepContext,
    before: CapturedState,
  ) => Promise<JournalFacts>;
  /** Restores the captured state. It is idempotent. */
  readonly undo: (entry: Entry, context: StepContext) => Promise<void>;
  /** Describes the undo in the imperative; default: by the captured paths. */
  readonly describeUndo?: (entry: Entry) => string;
  /** Runs after all entries are undone, such as a reload. */
  readonly afterUndo?: (entry: Entry, context: StepContext) => Promise<void>;
  /** Whether it is kept until the uninstallation although a later plan does not contain it; default: no. */
  readonly outlivesPlans?: boolean;
  /** Whether a later plan that does not contain it still needs it. @param names those of the plan's steps */
  readonly isWanted?: (entry: Entry, names: readonly string[], context: StepContext) => boolean;
}

/** The name of the fact with nginx's directory, which an uninstallation does not detect. */
const NGINX_DIRECTORY = 'nginxDirectory';

/** Returns the fact by which `atNginxDirectory` finds the directory again. */
export function captureNginxDirectory({ services }: StepContext): JournalFacts {
  return { [NGINX_DIRECTORY]: [services.nginxDirectory] };
}

/** Returns a context with the directory that nginx had when an entry was captured. */
export function atNginxDirectory({ before }: Entry, context: StepContext): StepContext {
  const [nginxDirectory = context.services.nginxDirectory] = before.facts[NGINX_DIRECTORY] ?? [];
  return { ...context, services: { ...context.services, nginxDirectory } };
}

/** The paths that a run has changed, and the ones that each reader was notified of. */
export class Changes {
  readonly #paths: string[] = [];
  readonly #seen = new Map<string, number>();

  add(path: string): void {
    this.#paths.push(path);
  }

  /** Returns the changes since a reader was last notified. */
  since(reader: string): readonly string[] {
    return this.#paths.slice(this.#seen.get(reader) ?? 0);
  }

  markNotified(reader: string): void {
    this.#seen.set(reader, this.#paths.length);
  }
}

/** Polls a condition until it is met. @returns false after the timeout */
export async function waitUntil(
  { services }: Pick<StepContext, 'services'>,
  isMet: () => Promise<boolean>,
  { timeoutMs, pauseMs }: { readonly timeoutMs: number; readonly pauseMs: number },
): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += pauseMs) {
    if (await isMet()) return true;
    await services.sleep(pauseMs);
  }
  return false;
}
