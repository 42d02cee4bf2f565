import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

import type { PasskeyAssertion, PasskeyRegistration } from '@latchkey/contract';

import { TEST_ISSUER } from './harness.ts';

const KINDS = {
  es256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed25519: () => generateKeyPairSync('ed25519'),
  rs256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  es384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
};

/** What a test changes of an answer. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean | string;
  /** Default: left out, as browsers do for a page that is not embedded. */
  readonly topOrigin?: string;
  /** Default: user present, user verified. */
  readonly flags?: number;
  readonly signCount?: number;
}

const PRESENT_AND_VERIFIED = 0x05;
const WITH_CREDENTIAL = 0x40;

/** An authenticator with one credential, and the browser before it. */
export class SoftwareAuthenticator {
  readonly id = randomBytes(32);
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor(kind: keyof typeof KINDS = 'es256') {
    const { privateKey, publicKey } = KINDS[kind]();
    this.#privateKey = privateKey;
    this.#publicKey = publicKey;
  }

  /** Answers a request to create the credential. */
  register(challenge: string, name: string, deviation: Deviation = {}): PasskeyRegistration {
    const clientData = describeClient('webauthn.create', challenge, deviation);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, Buffer.from([0xa0])]);
    const data = Buffer.concat([describeState(deviation, WITH_CREDENTIAL), credential]);
    return {
      name,
      credential_id: this.id.toString('base64url'),
      client_data: clientData.toString('base64url'),
      authenticator_data: data.toString('base64url'),
      public_key: this.#publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
    };
  }

  /** Answers a request to use the credential. */
  assert(challenge: string, deviation: Deviation = {}): PasskeyAssertion {
    const clientData = describeClient('webauthn.get', challenge, deviation);
    const data = describeState(deviation, 0);
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()]);
    const algorithm = this.#privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    return {
      credential_id: this.id.toString('base64url'),
      client_data: clientData.toString('base64url'),
      authenticator_data: data.toString('base64url'),
      signature: sign(algorithm, signed, this.#privateKey).toString('base64url'),
    };
  }
}

function describeClient(usual: string, challenge: string, deviation: Deviation): Buffer {
  const { origin = TEST_ISSUER, type = usual, crossOrigin = false, topOrigin } = deviation;
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin, topOrigin }));
}

function describeState(deviation: Deviation, added: number): Buffer {
  const {
    rpId = new URL(TEST_ISSUER).hostname,
    flags = PRESENT_AND_VERIFIED,
    signCount = 0,
  } = deviation;
  const head = Buffer.alloc(5);
  head.writeUInt8(flags | added);
  head.writeUInt32BE(signCount, 1);
  return Buffer.concat([createHash('sha256').update(rpId).digest(), head]);
}
