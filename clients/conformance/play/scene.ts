import type { Stage } from './stage.ts';

/** A story with clients, the service and the network between them; its name is what it guarantees. */
export interface Scene {
  readonly name: string;
  play(stage: Stage): Promise<void>;
}

/** Scenes about one subject. */
export interface Theme {
  readonly name: string;
  readonly scenes: readonly Scene[];
  /** Plays a scene with one client after the other, because it changes the service for all; default: false. */
  readonly changesService?: boolean;
}

/** A scene cannot be played here; the message is the reason. */
export class SkippedError extends Error {}

/** Declares a scene. @param name what is guaranteed, in a few words */
export function scene(name: string, play: Scene['play']): Scene {
  return { name, play };
}
