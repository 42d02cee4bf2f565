// The same program in a page: `node page.mjs`, then open the address that it prints.
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { settings } from './settings.mjs';

const here = import.meta.dirname ?? dirname(fileURLToPath(import.meta.url));
const client = dirname(fileURLToPath(import.meta.resolve('@latchkey/client')));
const types = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
};

const page = new Map([
  ['/', join(here, 'page', 'index.html')],
  ['/page.mjs', join(here, 'page', 'page.mjs')],
  ['/page.css', join(here, 'page', 'page.css')],
  ['/screens.mjs', join(here, 'screens.mjs')],
]);

/** Returns the file of a path: of the page, or of the client; null if there is none. */
function findFile(path) {
  const [, name] = /^\/client\/((?:chunks\/)?[\w-]+\.js)$/.exec(path) ?? [];
  const file = page.get(path) ?? (name === undefined ? null : join(client, name));
  return file !== null && existsSync(file) ? file : null;
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://page');
  if (pathname === '/settings.json') {
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(settings));
  }
  const file = findFile(pathname);
  if (file === null) return response.writeHead(404).end();
  response.setHeader('content-type', `${types[extname(file)]}; charset=utf-8`);
  createReadStream(file).pipe(response);
});
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
