import type { Step } from '../steps.ts';
import type { Machine } from './machine.ts';
import type { Backups, PathState } from './path-state.ts';

/** Lists of texts under names: what the journal keeps of anything that is no file. */
export type Facts = Readonly<Record<string, readonly string[]>>;

/** What a step is about: enough to find it again without the step itself. */
export type Subject = Readonly<Record<string, string>>;

/** What was there before a step. */
export interface Before {
  readonly paths: readonly PathState[];
  readonly facts: Facts;
}

/** A step that was applied, as the journal has it. */
export interface Entry {
  readonly kind: Step['kind'];
  readonly subject: Subject;
  readonly before: Before;
  /** What the step left; null when it is not known whether it came to its end. */
  readonly after: Facts | null;
}

/** What a step is applied with. */
export interface StepContext extends Machine {
  readonly backups: Backups;
  readonly changed: Changes;
  /** Says a sentence to the person who waits. */
  readonly report: (sentence: string) => void;
  readonly services: InstallServices;
  /** Whether everything is undone at the owner's wish, and not a run that failed or was interrupted. */
  readonly isUninstallation: boolean;
}

/** What steps need of the outside beside files and programs. */
export interface InstallServices {
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => Date;
  readonly domain: string;
  /** The directory of nginx's main file. */
  readonly nginxDirectory: string;
  /** What `nginx -t` warned of before anything was changed. */
  readonly nginxWarnings: readonly string[];
  /** Whether the plan keeps a certificate of certbot. @param name certbot's name for it */
  readonly keepsCertificate: (name: string) => boolean;
  /** Asks for the file among the answers to challenges; null when an authority would get it, else what is wrong. */
  readonly checkChallenge: (domain: string) => Promise<string | null>;
  /** Asks for the health route through nginx; null when it answers as it must, else what is wrong. */
  readonly probeProxy: () => Promise<string | null>;
  /** Makes the authority and what it signs, where they are missing. */
  readonly ensureAuthority: (order: AuthorityRequest) => Promise<void>;
  /** Whether all that the authority makes is there and good. */
  readonly isAuthorityReady: (order: AuthorityRequest) => Promise<boolean>;
  /** Whether client certificates were issued or revoked since. @param earlier the register then; null when there was none */
  readonly hasIssuedSince: (earlier: string | null) => boolean;
}

export interface AuthorityRequest {
  readonly domain: string;
  readonly withProxyCertificate: boolean;
}

/** How steps of one kind are done and undone. */
export interface StepKind<Kind extends Step> {
  /** What is done, for the progress and the plan: `Install certbot`. */
  readonly describe: (step: Kind) => string;
  readonly findSubject: (step: Kind) => Subject;
  /** Whether the machine is already as the step wants it. */
  readonly isSatisfied: (step: Kind, context: StepContext) => Promise<boolean>;
  /** Looks at what the step is about to change. */
  readonly capture: (subject: Subject, context: StepContext) => Promise<Before>;
  /**
   * @param before what `capture` returned, which is in the journal
   * @returns what it left, for a later look whether somebody else has changed it
   */
  readonly apply: (step: Kind, context: StepContext, before: Before) => Promise<Facts>;
  /** Makes it as it was before; applied twice it changes nothing more. */
  readonly undo: (entry: Entry, context: StepContext) => Promise<void>;
  /** What can be done only when everything is undone, such as a reload. */
  readonly afterUndo?: (entry: Entry, context: StepContext) => Promise<void>;
  /** Whether it stays until the uninstallation although a later plan no longer has it. */
  readonly outlivesPlans: boolean;
  /** For what a later plan wants without naming it. @param names those of the plan's steps */
  readonly isWanted?: (entry: Entry, names: readonly string[], context: StepContext) => boolean;
}

/** The name under which an entry keeps the directory of nginx, which an uninstallation does not detect. */
const NGINX_DIRECTORY = 'nginxDirectory';

/** Returns the fact by which `atNginxDirectory` finds the directory again. */
export function captureNginxDirectory({ services }: StepContext): Facts {
  return { [NGINX_DIRECTORY]: [services.nginxDirectory] };
}

/** Returns a context with the directory that nginx had when an entry was captured. */
export function atNginxDirectory({ before }: Entry, context: StepContext): StepContext {
  const [nginxDirectory = context.services.nginxDirectory] = before.facts[NGINX_DIRECTORY] ?? [];
  return { ...context, services: { ...context.services, nginxDirectory } };
}

/** What tells entries apart: two with the same name are about the same thing. */
export function nameEntry({ kind, subject }: Pick<Entry, 'kind' | 'subject'>): string {
  return [kind, ...Object.values(subject)].join(' ');
}

/** The paths that a run has changed so far, so that who reads them is told once, and nobody in vain. */
export class Changes {
  readonly #paths: string[] = [];
  readonly #seen = new Map<string, number>();

  add(path: string): void {
    this.#paths.push(path);
  }

  /** Those since a reader was told last. */
  since(reader: string): readonly string[] {
    return this.#paths.slice(this.#seen.get(reader) ?? 0);
  }

  markNotified(reader: string): void {
    this.#seen.set(reader, this.#paths.length);
  }
}
