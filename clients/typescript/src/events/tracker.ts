import type { Answer } from '../answers/answer.ts';
import type { ReportProblem } from '../problem.ts';
import type { EventProps } from './event.ts';
import type { Flushed } from './flushed.ts';

/** What events need of their client. */
export interface EventHost {
  readonly now: () => number;
  readonly report: ReportProblem;
  readonly versions: { readonly app_version: string; readonly os_version?: string };
  /** The id of the installation and the consent of its user. */
  readonly kept: () => { readonly installId: string | null; readonly sharing: boolean | null };
  /** Sends a batch to the service. */
  readonly send: (batch: object) => Promise<Answer>;
}

/** Keeps and sends the events of a client. */
export interface EventTracker {
  /** How many events were dropped since opening. */
  readonly dropped: number;
  track(name: string, props: EventProps): void;
  flush(): Promise<Flushed>;
  clear(): void;
}

/** Events as `@latchkey/client/events` creates them. */
export interface Events {
  connect(host: EventHost): EventTracker;
}
