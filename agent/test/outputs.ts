import { readFileSync } from 'node:fs';

/** Returns a recorded output of a program, from `fixtures/outputs`. */
export function readOutput(name: string): Buffer {
  return readFileSync(new URL(`fixtures/outputs/${name}`, import.meta.url));
}
