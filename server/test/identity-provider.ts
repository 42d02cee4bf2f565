/** The OpenID Connect provider of the tests, a process of its own, and a browser at its pages. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The client secret that the provider expects. */
export const CLIENT_SECRET = 'a secret of the tests';

/** The claims of the people by their logins. */
export type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Starts the provider.
 * @param callback where it sends the browser back to
 * @param resources end it
 * @returns its issuer
 */
export async function startIdentityProvider(
  people: People,
  callback: string,
  resources: AsyncDisposableStack,
): Promise<string> {
  const file = fileURLToPath(new URL('identity-provider.mjs', import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(people), callback], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  resources.defer(() => void child.kill());
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('http://')) return line;
  }
  throw new Error('the provider did not start');
}

/** The cookies of a browser at the provider. */
export type Cookies = Map<string, string>;

/**
 * Follows redirects with cookies, and fills in the forms of the provider.
 * @param back the origin that the provider sends the browser back to
 * @returns the path and query there
 */
export async function visitProvider(
  start: string,
  login: string,
  back: string,
  cookies: Cookies = new Map(),
): Promise<string> {
  let url = start;
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 20; step += 1) {
    const response: Response = await fetch(url, {
      method: form === null ? 'GET' : 'POST',
      body: form,
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
    });
    keepCookies(cookies, response);
    const location = response.headers.get('location');
    form = null;
    if (location === null) {
      const page = await response.text();
      const prompt = /name="prompt" value="(?<prompt>\w+)"/.exec(page)?.groups?.['prompt'] ?? '';
      url = /action="(?<action>[^"]+)"/.exec(page)?.groups?.['action'] ?? '';
      form = new URLSearchParams({ prompt, login, password: 'any' });
    } else {
      url = new URL(location, url).href;
      if (url.startsWith(back)) return url.slice(back.length);
    }
  }
  throw new Error('the provider does not send the browser back');
}

function keepCookies(cookies: Cookies, { headers }: Response): void {
  for (const each of headers.getSetCookie()) {
    const [name = '', value = ''] = (each.split(';', 1)[0] ?? '').split(/=(.*)/s);
    cookies.set(name, value);
  }
}
