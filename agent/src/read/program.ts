import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

import { isMissing } from './missing.ts';

/**
 * Looks for a program.
 * @param searchPath directories, as in the environment's PATH; those that are not absolute are passed over
 * @returns its path; null when no directory has it
 */
export function findProgram(name: string, searchPath: string): string | null {
  return (
    searchPath
      .split(delimiter)
      .filter((directory) => isAbsolute(directory))
      .map((directory) => join(directory, name))
      .find(isExecutable) ?? null
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
