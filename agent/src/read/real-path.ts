import { realpathSync } from 'node:fs';

import { isMissing } from './missing.ts';

/** Where a path leads, without links; null when it is not there. */
export function resolvePath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
