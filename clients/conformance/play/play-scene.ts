import { UnsupportedError } from './client.ts';
import type { Outcome } from './outcome.ts';
import { SkippedError, type Scene } from './scene.ts';
import { Stage, type StageDependencies } from './stage.ts';

/** Plays a scene with one client. */
export async function playScene(scene: Scene, dependencies: StageDependencies): Promise<Outcome> {
  const stage = await Stage.prepare(dependencies);
  const failure = (await tryTo(() => scene.play(stage))) ?? null;
  const failureAtEnd = await tryTo(() => stage[Symbol.asyncDispose]());
  const error = failure ?? failureAtEnd;
  if (error === null) return { status: 'ok', steps: stage.transcript.steps };
  const status =
    error instanceof SkippedError || error instanceof UnsupportedError ? 'skipped' : 'differs';
  return { status, reason: error.message };
}

async function tryTo(work: () => Promise<void>): Promise<Error | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
