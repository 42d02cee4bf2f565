import { Agent, request } from 'node:http';

/** Posts JSON over a connection of its own, so that requests reach the workers in turn; returns the status. */
export function postOverNewConnection(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      agent: new Agent({ keepAlive: false }),
      headers: { 'content-type': 'application/json', ...headers },
    });
    sent.once('error', reject).once('response', (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.end(JSON.stringify(body));
  });
}
