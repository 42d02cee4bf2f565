import type { AgentSnapshot } from '@latchkey/contract';

import type { Timeline } from './timeline.ts';

/** A part of the page. */
export interface Panel {
  readonly element: HTMLElement;
  /**
   * Takes the newest snapshot.
   * @returns false when the machine lacks what it shows: then nothing of it is shown
   */
  update(snapshot: AgentSnapshot): boolean;
  /** Draws its charts. */
  draw?(): void;
}

/** What panels are made with. */
export interface PanelContext {
  readonly timeline: Timeline;
}
