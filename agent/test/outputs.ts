import { readFileSync } from 'node:fs';

/** What a program printed, from `fixtures/outputs`. */
export function readOutput(name: string): Buffer {
  return readFileSync(new URL(`fixtures/outputs/${name}`, import.meta.url));
}
