import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { startWebServer, type WebServer } from './web-server.ts';

const found = spawnSync('nginx', ['-v'], { encoding: 'utf8' });

/** Why tests that need nginx cannot run; false when they can. */
export const lacksNginx = found.status === 0 ? false : 'nginx is what is tried out';

/** As facts have it: `1.22.1`. */
export const nginxVersion =
  /nginx\/(?<version>[\d.]+)/.exec(found.stderr)?.groups?.['version'] ?? '';

/** What Debian compiles in lies outside of the test. Only root may name a user; its own may read what the test wrote. */
const MAIN = `${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid nginx.pid;
events { worker_connections 256; }
http {
  access_log access.log;
  error_log error.log;
  client_body_temp_path t1;
  proxy_temp_path t2;
  fastcgi_temp_path t3;
  uwsgi_temp_path t4;
  scgi_temp_path t5;
  include conf.d/*.conf;
}
`;

/** nginx in a directory of its own, which is its prefix. */
export interface Nginx extends WebServer {
  /** What was written to its log of requests. */
  readAccessLog(): string;
  /** What it wrote to its log of errors. */
  readErrorLog(): string;
  /** What `nginx -t` says of it. */
  test(): string;
}

/**
 * Starts nginx.
 * @param files below its directory; those in `conf.d` are loaded
 * @param port one that it listens on
 */
export async function startNginx(
  files: Readonly<Record<string, string>>,
  port: number,
): Promise<Nginx> {
  const server = await startWebServer({
    program: 'nginx',
    args: (directory) => [...listOptions(directory), '-g', 'daemon off;'],
    files: { 'nginx.conf': MAIN, ...files },
    port,
  });
  const { directory } = server;
  return {
    ...server,
    readAccessLog: () => readFileSync(join(directory, 'access.log'), 'utf8'),
    readErrorLog: () => readFileSync(join(directory, 'error.log'), 'utf8'),
    test: () => spawnSync('nginx', [...listOptions(directory), '-t'], { encoding: 'utf8' }).stderr,
  };
}

function listOptions(directory: string): readonly string[] {
  return ['-p', `${directory}/`, '-c', join(directory, 'nginx.conf'), '-e', 'stderr'];
}
