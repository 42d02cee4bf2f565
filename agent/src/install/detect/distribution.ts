import { join } from 'node:path';

import { readText } from '../../read/small-file.ts';
import type { HostFacts } from '../facts.ts';
import type { Detection } from './detection.ts';

/** Where distributions say what they are, os-release(5). */
const PLACES = ['etc/os-release', 'usr/lib/os-release'];

/** Which distribution this is; empty texts where it does not say. */
export function detectDistribution({ root }: Detection): HostFacts['distribution'] {
  const text = PLACES.map((path) => readText(join(root, '/', path))).find((each) => each !== null);
  const id = readField(text ?? '', 'ID');
  const name = readField(text ?? '', 'PRETTY_NAME');
  return { id, versionId: readField(text ?? '', 'VERSION_ID'), name: name === '' ? id : name };
}

function readField(text: string, name: string): string {
  const value = new RegExp(`^${name}=(.*)$`, 'mu').exec(text)?.[1]?.trim() ?? '';
  const [, , quoted] = /^(["'])(.*)\1$/u.exec(value) ?? [];
  return quoted ?? value;
}
