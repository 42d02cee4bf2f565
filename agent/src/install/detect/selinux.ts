import { join } from 'node:path';

import { readText } from '../../read/small-file.ts';
import type { SelinuxFacts } from '../facts.ts';
import { paths } from '../paths.ts';
import type { Detection } from '../../system/run-program.ts';

/** Contains 1 where the policy is enforced (selinuxfs). */
const ENFORCE = 'sys/fs/selinux/enforce';

/** The SELinux type of files that a web server may read. */
const READABLE = /:httpd_sys_(?:rw_)?content_t\b/u;

/** Returns what the SELinux policy allows a web server; null where none is enforced. */
export async function detectSelinux({ root, runProgram }: Detection): Promise<SelinuxFacts | null> {
  if (readText(join(root, '/', ENFORCE)) !== '1') return null;
  const [connect, label] = await Promise.all([
    runProgram('getsebool', ['httpd_can_network_connect']),
    runProgram('matchpathcon', [paths.challenges]),
  ]);
  return {
    webServerMayConnect: /--> on$/mu.test(connect.stdout),
    webServerMayReadChallenges: READABLE.test(label.stdout),
  };
}
