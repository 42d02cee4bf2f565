/**
 * Node's own HTTP server without any framework: it parses the body and sends an answer of the size of a validation's.
 * Its cost per request is the minimum of Node.js and the operating system.
 */
import { createServer } from 'node:http';

import { VALIDATE_RESPONSE } from './lib/sample-responses.ts';

const answer = JSON.stringify(VALIDATE_RESPONSE);
const headers = {
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(answer),
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, headers).end(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
});
process.once('SIGTERM', () => process.exit(0));
// Ends with the benchmark, also an interrupted one.
process.once('disconnect', () => process.exit(0));
