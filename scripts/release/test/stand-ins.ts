/** Images under the official names that the compose files use, unless they are there: a test needs no registry. */
import { join } from 'node:path';

import { ensureBase, podman, runPodman } from './containers.ts';

const NGINX = 'docker.io/library/nginx:stable';
const POSTGRES = 'docker.io/library/postgres:18';

const folder = join(import.meta.dirname, 'stand-ins');

/** @param image of Latchkey, whose PostgreSQL is taken @param arch of the image */
export async function ensureStandIns(image: string, arch: string): Promise<void> {
  await ensureBase();
  await ensureImage(NGINX, 'nginx');
  const own = [`--build-arg=LATCHKEY=${image}`, `--build-arg=PACKAGE=linux-${arch}`];
  await ensureImage(POSTGRES, 'postgres', own);
}

async function ensureImage(
  name: string,
  file: string,
  options: readonly string[] = [],
): Promise<void> {
  if ((await podman('image', 'exists', name)).code === 0) return;
  const source = [`--file=${folder}/${file}.Containerfile`, folder];
  await runPodman('build', '--network=host', ...options, `--tag=${name}`, ...source);
}
