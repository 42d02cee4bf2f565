import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { startWebServer, type WebServer } from './web-server.ts';

const found = spawnSync('nginx', ['-v'], { encoding: 'utf8' });

/** The reason to skip tests that need nginx; false when it is installed. */
export const lacksNginx = found.status === 0 ? false : 'needs nginx';

/** In the form of the host facts: `1.22.1`. */
export const nginxVersion =
  /nginx\/(?<version>[\d.]+)/.exec(found.stderr)?.groups?.['version'] ?? '';

/**
 * Sets every path, because Debian's compiled-in paths are outside of the test directory. Only root may set `user`; root may
 * read the files of the test.
 */
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

/** nginx with a temporary directory as prefix. */
export interface Nginx extends WebServer {
  /** Returns the access log. */
  readAccessLog(): string;
  /** Returns the error log. */
  readErrorLog(): string;
  /** Returns the output of `nginx -t`. */
  test(): string;
}

/**
 * Starts nginx.
 * @param files by path below its directory; it loads those in `conf.d`
 * @param port on which it listens
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
