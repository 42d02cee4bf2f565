import { readFileSync } from 'node:fs';

import { Type, type TSchema, type Static } from 'typebox';
import { Parse } from 'typebox/schema';

import { scene, type Scene, type Theme } from '../play/scene.ts';
import { DifferenceError, type SceneClient } from '../play/client.ts';

const TokenVector = Type.Object({
  name: Type.String(),
  verdict: Type.String(),
  token: Type.String(),
  public_keys: Type.Array(Type.Unknown()),
  issuer: Type.String(),
  products: Type.Array(Type.String()),
  machine_id: Type.String(),
  nonce: Type.Union([Type.String(), Type.Null()]),
  now_ms: Type.Integer(),
});

const KeyVector = Type.Object({
  name: Type.String(),
  text: Type.String(),
  key: Type.Union([Type.String(), Type.Null()]),
  verdict: Type.String(),
});

const ClockVector = Type.Object({
  name: Type.String(),
  steps: Type.Array(Type.Unknown()),
  expected: Type.Array(Type.Object({ now_ms: Type.Integer(), clock_went_back: Type.Boolean() })),
});

const FingerprintVector = Type.Object({
  name: Type.String(),
  source: Type.String(),
  text: Type.String(),
  machine_id: Type.Union([Type.String(), Type.Null()]),
});

/** Plays every vector of a file, and reports all that differ. */
function vectors<Vector extends TSchema>(
  name: string,
  file: string,
  schema: Vector,
  play: (client: SceneClient, vector: Static<Vector>) => Promise<unknown>,
): Scene {
  return scene(name, async (stage) => {
    const text = readFileSync(new URL(`../vectors/${file}`, import.meta.url), 'utf8');
    const client = stage.startDriver();
    const differences: string[] = [];
    for (const vector of Parse(Type.Array(schema), JSON.parse(text))) {
      await play(client, vector).catch((error: unknown) => {
        if (!(error instanceof DifferenceError)) throw error;
        differences.push(`${nameOf(vector)}: ${error.message}`);
      });
    }
    // Each answer was compared already, and fields that no vector expects are the client's own.
    stage.transcript.clear();
    if (differences.length > 0) {
      throw new DifferenceError(
        `${differences.length} differ:\n      ${differences.join('\n      ')}`,
      );
    }
  });
}

function nameOf(vector: unknown): string {
  return typeof vector === 'object' && vector !== null && 'name' in vector
    ? String(vector.name)
    : '';
}

export const VECTORS: Theme = {
  name: 'vectors',
  scenes: [
    vectors(
      'tokens have their verdicts',
      'tokens.json',
      TokenVector,
      (client, { name: _name, verdict, ...vector }) =>
        client.expectFields({ do: 'verify', ...vector }, { verdict }),
    ),
    vectors(
      'typed keys have their readings',
      'keys.json',
      KeyVector,
      (client, { text, key, verdict }) =>
        client.expectFields({ do: 'key', text }, key === null ? { verdict } : { verdict, key }),
    ),
    vectors('clocks have their times', 'clocks.json', ClockVector, (client, { steps, expected }) =>
      client.expectFields({ do: 'clock_steps', steps }, { steps: expected }),
    ),
    vectors(
      'machine ids are read from what systems print',
      'fingerprints.json',
      FingerprintVector,
      (client, { source, text, machine_id }) =>
        client.expectFields({ do: 'fingerprint', source, text }, { machine_id }),
    ),
  ],
};
