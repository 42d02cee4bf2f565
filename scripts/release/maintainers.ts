import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { MAINTAINER, PLACEHOLDER } from '../package/maintainer.ts';
import { ReleaseError } from './release-error.ts';
import { PUBLIC_KEY_FILE } from './signature.ts';

const LOCAL = 'or add --local, for packages that you do not publish';

/**
 * Checks that a release has its maintainers' key, by which others verify it, and their address.
 * @param root the repository
 * @throws ReleaseError when it does not
 */
export function requireMaintainers(root: string, maintainer = MAINTAINER): void {
  const problems: string[] = [];
  if (!existsSync(join(root, PUBLIC_KEY_FILE))) {
    problems.push(
      `${PUBLIC_KEY_FILE} is missing: create the key of releases as RELEASING.md describes, ${LOCAL}.`,
    );
  }
  if (maintainer === PLACEHOLDER) {
    problems.push(
      `scripts/package/maintainer.ts contains no address of the maintainers: enter it, ${LOCAL}.`,
    );
  }
  if (problems.length > 0) throw new ReleaseError(problems.join('\n'));
}
