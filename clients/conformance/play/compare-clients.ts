import { findAnyDifference } from './difference.ts';
import type { Outcome } from './outcome.ts';
import type { TranscriptStep } from './transcript.ts';

type Played = readonly [client: string, steps: readonly TranscriptStep[]];

/**
 * Compares what the clients did in a scene. A client whose answers differ from those of the first client that did
 * what the scene expects differs, too.
 */
export function compareClients(outcomes: ReadonlyMap<string, Outcome>): Map<string, Outcome> {
  const played = [...outcomes].flatMap(([client, outcome]): Played[] =>
    outcome.status === 'ok' ? [[client, outcome.steps]] : [],
  );
  const compared = new Map(outcomes);
  const [first, ...others] = played;
  if (first === undefined) return compared;
  for (const other of others) {
    const reason = compareTwo(first, other);
    if (reason !== null) compared.set(other[0], { status: 'differs', reason });
  }
  return compared;
}

function compareTwo([firstName, first]: Played, [, other]: Played): string | null {
  if (first.length !== other.length) return `not as many commands as ${firstName}`;
  for (const [index, step] of first.entries()) {
    const difference = findAnyDifference(step, other[index]);
    if (difference !== null) return `${step.did}: other than ${firstName}: ${difference}`;
  }
  return null;
}
