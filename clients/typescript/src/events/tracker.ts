import type { Answer } from '../answers/answer.ts';
import type { ReportProblem } from '../problem.ts';
import type { EventProps } from './event.ts';
import type { Flushed } from './flushed.ts';

/** What events need of their client: its session. */
export interface EventHost {
  readonly parts: {
    readonly now: () => number;
    readonly report: ReportProblem;
    readonly versions: { readonly app_version: string; readonly os_version?: string };
    readonly service: { post(path: string, body: object): Promise<Answer> };
  };
  /** The id of the installation and the consent of its user. */
  readonly kept: { readonly installId: string | null; readonly sharing: boolean | null };
  /** Whether there may be another id and another consent that could not be read yet. */
  readonly isUnread: boolean;
  /** Is called once they were read. */
  onRead: (() => void) | null;
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
