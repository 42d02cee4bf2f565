import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { repository } from './steps.ts';

/**
 * Returns the `sh` blocks of a document, also those in lists.
 * @param file its path in the repository
 * @param heading of the section, without sections below it; all sections without it
 * @throws Error when there is none
 */
export function readCommands(file: string, heading?: string): string[] {
  const text = readFileSync(join(repository, file), 'utf8');
  const part = heading === undefined ? text : findSection(text, heading);
  const blocks = [...part.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(
    ([, indent = '', commands = '']) => commands.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  if (blocks.length === 0) throw new Error(`${file} has no commands below "${heading ?? ''}".`);
  return blocks;
}

function findSection(text: string, heading: string): string {
  const parts = text.split(/^#+ /m);
  return parts.find((part) => part.startsWith(`${heading}\n`)) ?? '';
}
