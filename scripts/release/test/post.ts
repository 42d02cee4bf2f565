import type { Post } from './licensed-machine.ts';

/** Sends requests to a service at a URL. */
export function postTo(url: string): Post {
  return async (path, body) => {
    const response = await fetch(`${url}/api/v1/licenses/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.json();
  };
}
