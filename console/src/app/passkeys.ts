/** Passkeys in the browser (WebAuthn). */
import type {
  CurrentOperator,
  PasskeyAssertion,
  PasskeyCreation,
  PasskeyRegistration,
  PasskeyRequest,
} from '@latchkey/contract';
import * as passkeys from '@latchkey/contract/admin/passkeys';

import { ApiError } from './api-error.ts';
import { callOnce } from './call.ts';

/** ES256, EdDSA, RS256: what the service verifies. */
const ALGORITHMS = [-7, -8, -257];

/** Signs in with a passkey that the browser or a security key has. @throws ApiError */
export function signInWithPasskey(): Promise<CurrentOperator> {
  return proveBy(passkeys.signInWithPasskey, []);
}

/** Proves freshness with a passkey of the operator. @throws ApiError */
export async function proveWithPasskey(): Promise<CurrentOperator> {
  const { items } = await callOnce(passkeys.listPasskeys, {});
  return proveBy(
    passkeys.proveFreshnessWithPasskey,
    items.map((each) => each.credential_id),
  );
}

async function proveBy(
  of: typeof passkeys.signInWithPasskey | typeof passkeys.proveFreshnessWithPasskey,
  ids: readonly string[],
): Promise<CurrentOperator> {
  const request = await callOnce(passkeys.beginPasskeySignIn, {});
  return callOnce(of, { body: await usePasskey(request, ids) });
}

async function usePasskey(
  { challenge, rp_id: rpId }: PasskeyRequest,
  ids: readonly string[],
): Promise<PasskeyAssertion> {
  const publicKey: PublicKeyCredentialRequestOptions = {
    challenge: toBytes(challenge),
    rpId,
    userVerification: 'required',
    allowCredentials: ids.map(toDescriptor),
  };
  const credential = await ask(() => navigator.credentials.get({ publicKey }));
  const { response } = credential;
  if (!(response instanceof AuthenticatorAssertionResponse)) throw failed();
  return {
    credential_id: toText(credential.rawId),
    client_data: toText(response.clientDataJSON),
    authenticator_data: toText(response.authenticatorData),
    signature: toText(response.signature),
  };
}

/** Creates a passkey with the browser or a security key. @throws ApiError */
export async function createPasskey(
  creation: PasskeyCreation,
): Promise<Omit<PasskeyRegistration, 'name'>> {
  const publicKey: PublicKeyCredentialCreationOptions = {
    challenge: toBytes(creation.challenge),
    rp: { id: creation.rp_id, name: 'Latchkey' },
    user: {
      id: toBytes(creation.user_id),
      name: creation.user_name,
      displayName: creation.user_display_name,
    },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    // Discoverable, so that signing in needs no e-mail address.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: creation.exclude.map(toDescriptor),
    attestation: 'none',
  };
  const credential = await ask(() => navigator.credentials.create({ publicKey }));
  const { response } = credential;
  const key = response instanceof AuthenticatorAttestationResponse ? response.getPublicKey() : null;
  if (!(response instanceof AuthenticatorAttestationResponse) || key === null) throw failed();
  return {
    credential_id: toText(credential.rawId),
    client_data: toText(response.clientDataJSON),
    authenticator_data: toText(response.getAuthenticatorData()),
    public_key: toText(key),
  };
}

async function ask(open: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await open().catch((error: unknown) => {
    const name = error instanceof DOMException ? error.name : '';
    throw name === 'InvalidStateError'
      ? new ApiError('passkey', 0, 'This device has a passkey for your account already.')
      : failed();
  });
  if (!(credential instanceof PublicKeyCredential)) throw failed();
  return credential;
}

function failed(): ApiError {
  return new ApiError('passkey', 0, 'The browser has not used a passkey. Try again.');
}

function toDescriptor(id: string): PublicKeyCredentialDescriptor {
  return { type: 'public-key', id: toBytes(id) };
}

function toBytes(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function toText(bytes: ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
