import type { TranscriptStep } from './transcript.ts';

/** What a client did in a scene. */
export type Outcome =
  | { readonly status: 'ok'; readonly steps: readonly TranscriptStep[] }
  /** It did not do what the scene expects, or not what the other clients did. */
  | { readonly status: 'differs'; readonly reason: string }
  | { readonly status: 'skipped'; readonly reason: string };

/** A scene with the outcome of each client. */
export interface SceneReport {
  readonly theme: string;
  readonly scene: string;
  /** By the name of the client. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}
