/** The OpenID Connect provider that operators sign in with: code flow with PKCE, state and nonce. */
import type { Configuration, CustomFetch } from 'openid-client';

import type { OidcConfig } from '#server/config/config.ts';

import { readIdentity, type ProviderIdentity } from './rules/provider-claims.ts';

const TIMEOUT_SECONDS = 10;

/** Of one answer: metadata, keys, tokens and user info have a few kilobytes. */
const MAX_ANSWER_BYTES = 1_048_576;

/** 30 days, in seconds, like a session. The parameter also has the provider state when the person signed in there. */
const SIGN_IN_MAX_AGE = '2592000';

/** Imports openid-client at the first call: 17 ms and 6 MiB, which a service without a provider saves. */
export const loadOpenidClient = () => import('openid-client');

/** What the browser keeps, sealed, while it is at the provider. */
export interface ProviderFlow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** In seconds, by the clock of this machine, which openid-client compares with as well. */
  readonly begunAt: number;
}

/**
 * A client of the provider. Its metadata is read at the first use, and again with its keys at each completed flow, so that a
 * replaced key is accepted at once and a removed one is not.
 */
export class ProviderClient {
  readonly config: OidcConfig;
  readonly #secret: string | null;
  #configuration: Promise<Configuration> | null = null;

  constructor(config: OidcConfig, secret: string | null) {
    this.config = config;
    this.#secret = secret;
  }

  /**
   * Returns the page of the provider, and what the callback needs.
   * @param asksAgain whether the provider asks for the credential although it knows the person: `prompt` says so, `max_age` also
   * has it state when it asked (OpenID Connect Core 1.0 §3.1.2.1)
   * @throws the error of the library when the provider cannot be reached
   */
  async begin(
    redirectUri: string,
    asksAgain: boolean,
  ): Promise<{ readonly url: string; readonly flow: ProviderFlow }> {
    const openid = await loadOpenidClient();
    const configuration = await this.#discover();
    const flow = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
      begunAt: nowSeconds(),
    };
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
      ...(asksAgain ? { prompt: 'login', max_age: '0' } : { max_age: SIGN_IN_MAX_AGE }),
    });
    return { url: url.href, flow };
  }

  /**
   * Exchanges the code of a callback. The ID token and a signed user info must have an asymmetric signature of a key of the
   * provider, by an algorithm that it announces (default: RS256); TLS does not replace it (OpenID Connect Core 1.0 §3.1.3.7).
   * @param callback the URL of the callback with its query
   * @param mustBeNew whether the person must have signed in at the provider since the flow was begun
   * @throws the error of the library when anything is wrong
   */
  async complete(
    callback: URL,
    { state, nonce, verifier, begunAt }: ProviderFlow,
    mustBeNew: boolean,
  ): Promise<ProviderIdentity> {
    const openid = await loadOpenidClient();
    const configuration = await this.#read();
    const tokens = await openid.authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
      // Requires `auth_time`, and allows the clock of the provider to be 30 seconds behind.
      ...(mustBeNew ? { maxAge: nowSeconds() - begunAt } : {}),
    });
    const claims = { ...tokens.claims() };
    const { claim, roles } = this.config;
    const now = nowSeconds();
    const identity = readIdentity(claims, claim, roles, now);
    // The library accepts a time in the future as new.
    if (mustBeNew && identity.signedInAt === null) throw new Error('auth_time is in the future');
    const { sub } = claims;
    const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
    if (identity.role !== null && identity.email !== null) return identity;
    if (endpoint === undefined || sub === undefined) return identity;
    // Many providers put the e-mail address and groups there only.
    const more = await openid.fetchUserInfo(configuration, tokens.access_token, sub);
    return readIdentity({ ...more, ...claims }, claim, roles, now);
  }

  #discover(): Promise<Configuration> {
    this.#configuration ??= this.#read().catch((error: unknown) => {
      this.#configuration = null;
      throw error;
    });
    return this.#configuration;
  }

  async #read(): Promise<Configuration> {
    const openid = await loadOpenidClient();
    const issuer = new URL(this.config.issuer);
    const authentication =
      this.#secret === null ? openid.None() : openid.ClientSecretBasic(this.#secret);
    // Only a loopback address may have no TLS, as the configuration checks.
    const insecure = issuer.protocol === 'http:' ? [openid.allowInsecureRequests] : [];
    return openid.discovery(issuer, this.config.clientId, undefined, authentication, {
      timeout: TIMEOUT_SECONDS,
      [openid.customFetch]: fetchLimited,
      execute: [openid.enableNonRepudiationChecks, ...insecure],
    });
  }
}

/** Fetches an answer whose body fails when it is too long. */
const fetchLimited: CustomFetch = async (url, { body = null, signal = null, ...options }) => {
  const response = await fetch(url, { ...options, body, signal });
  return response.body === null
    ? response
    : new Response(response.body.pipeThrough(limitBytes()), response);
};

function limitBytes(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let total = 0;
  return new TransformStream({
    transform(chunk, controller) {
      total += chunk.byteLength;
      if (total > MAX_ANSWER_BYTES) throw new Error('the provider sent a too long answer');
      controller.enqueue(chunk);
    },
  });
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
