// An entry of the journal: an applied step, and what is needed to undo it.
import type { Step } from '../steps.ts';

/** The state of a path, from which it can be restored. */
export type PathState =
  /** With the missing directories above it, deepest first. */
  | { readonly type: 'absent'; readonly path: string; readonly missing: readonly string[] }
  | { readonly type: 'link'; readonly path: string; readonly target: string }
  | ({ readonly type: 'directory'; readonly path: string } & Access)
  | ({ readonly type: 'file'; readonly path: string } & Access & Content);

interface Access {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

interface Content {
  readonly modifiedMs: number;
  /** The SHA-256 of its bytes, which names its copy among the backups. */
  readonly backup: string;
}

/** Facts in the journal beside the states of paths: lists of texts by name. */
export type JournalFacts = Readonly<Record<string, readonly string[]>>;

/** Identifies the object of a step, so that it can be undone without the step. */
export type Subject = Readonly<Record<string, string>>;

/** The captured state before a step. */
export interface CapturedState {
  readonly paths: readonly PathState[];
  readonly facts: JournalFacts;
}

/** An applied step, as the journal has it. */
export interface Entry {
  readonly kind: Step['kind'];
  readonly subject: Subject;
  readonly before: CapturedState;
  /** The result of the step; null when it is unknown whether it completed. */
  readonly after: JournalFacts | null;
}

/** Returns the name of an entry; entries with the same name have the same object. */
export function nameEntry({ kind, subject }: Pick<Entry, 'kind' | 'subject'>): string {
  return [kind, ...Object.values(subject)].join(' ');
}
