/** Images under the official names that the compose files use, unless they are there: a test needs no registry. */
import { join } from 'node:path';

import { ensureBase, podman, runPodman } from './containers.ts';

const NGINX = 'docker.io/library/nginx:stable';
const POSTGRES = 'docker.io/library/postgres:18';

const folder = join(import.meta.dirname, 'stand-ins');

/**
 * Tags the images until they are disposed: later, compose must not take them for the official ones.
 * @param image of Latchkey, whose PostgreSQL is taken @param arch of the image
 */
export async function tagStandIns(image: string, arch: string): Promise<AsyncDisposable> {
  await ensureBase();
  const own = [`--build-arg=LATCHKEY=${image}`, `--build-arg=PACKAGE=linux-${arch}`];
  const tagged = [
    ...(await tagStandIn(NGINX, 'nginx')),
    ...(await tagStandIn(POSTGRES, 'postgres', own)),
  ];
  return {
    async [Symbol.asyncDispose]() {
      for (const name of tagged) await podman('untag', name, name);
    },
  };
}

/** @returns the name, unless the official image is there */
async function tagStandIn(
  name: string,
  file: string,
  options: readonly string[] = [],
): Promise<string[]> {
  if ((await podman('image', 'exists', name)).code === 0) return [];
  const standIn = `localhost/latchkey-test-${file}`;
  if ((await podman('image', 'exists', standIn)).code !== 0) {
    const source = [`--file=${folder}/${file}.Containerfile`, folder];
    await runPodman('build', '--network=host', ...options, `--tag=${standIn}`, ...source);
  }
  await runPodman('tag', standIn, name);
  return [name];
}
