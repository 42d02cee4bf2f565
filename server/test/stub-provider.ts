/** An OpenID Connect provider whose tokens a test signs itself, also wrongly. It has no pages: a code is issued at once. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';

/** A key of the provider. */
export interface ProviderKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export async function createProviderKey(kid: string, alg = 'RS256'): Promise<ProviderKey> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

/** Signs claims as the provider does. */
export function signAs({ kid, alg, privateKey }: ProviderKey): Sign {
  return (claims) => new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKey);
}

type Sign = (claims: JWTPayload) => Promise<string> | string;

/** What a test changes between sign-ins. */
export interface StubSettings {
  /** The published keys. */
  keys: readonly ProviderKey[];
  /** `id_token_signing_alg_values_supported`; null: not announced. */
  algorithms: readonly string[] | null;
  sign: Sign;
  /** Null: the user info is JSON. Else it is a JWT, and the ID token has no address. */
  signUserInfo: Sign | null;
  /** Appended to the published keys. */
  padding: string;
}

/** The running provider. */
export interface StubProvider {
  readonly issuer: string;
  readonly settings: StubSettings;
  /** Returns the path and query with which the provider sends the browser back from a page of the provider. */
  answer(url: string): string;
}

export async function startStubProvider(
  settings: StubSettings,
  person: Readonly<Record<string, unknown>>,
  resources: AsyncDisposableStack,
): Promise<StubProvider> {
  const nonces = new Map<string, string>();
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(toError(error)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  resources.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`;

  function claimsFor(nonce: string | undefined): JWTPayload {
    const now = Math.floor(Date.now() / 1000);
    const sub = String(person['sub']);
    const base = { iss: issuer, aud: 'latchkey', sub, iat: now, exp: now + 60, auth_time: now };
    if (nonce === undefined) return { ...base, ...person };
    return { ...base, nonce, ...(settings.signUserInfo === null ? person : {}) };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', issuer);
    if (pathname === '/.well-known/openid-configuration') return json(response, describe());
    if (pathname === '/jwks') return json(response, await publish(settings));
    if (pathname === '/userinfo') {
      const token = await settings.signUserInfo?.(claimsFor(undefined));
      return void response.setHeader('content-type', 'application/jwt').end(token);
    }
    const code = new URLSearchParams(await text(request)).get('code') ?? '';
    const token = await settings.sign(claimsFor(nonces.get(code) ?? ''));
    json(response, { access_token: 'a', token_type: 'Bearer', id_token: token });
  }

  function describe(): object {
    const algorithms = settings.algorithms ?? undefined;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: algorithms,
      userinfo_signing_alg_values_supported: algorithms,
    };
  }

  function answer(url: string): string {
    const { searchParams } = new URL(url);
    const code = crypto.randomUUID();
    nonces.set(code, searchParams.get('nonce') ?? '');
    const callback = new URL(searchParams.get('redirect_uri') ?? '');
    const query = new URLSearchParams({ code, state: searchParams.get('state') ?? '' });
    return `${callback.pathname}?${query.toString()}`;
  }

  return { issuer, settings, answer };
}

async function publish({ keys, padding }: StubSettings): Promise<object> {
  const published = keys.map(async ({ kid, alg, publicKey }) => ({
    ...(await exportJWK(publicKey)),
    kid,
    alg,
    use: 'sig',
  }));
  return { keys: await Promise.all(published), padding };
}

function json(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
