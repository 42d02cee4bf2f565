// The certificate that the agent itself presents.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { agentUser, paths } from '../../paths.ts';
import type { OwnCertificateStep } from '../../steps.ts';
import { locate, type Machine, mustRun } from '../machine.ts';
import { capturePaths, restore } from '../path-state.ts';
import type { StepContext, StepKind } from '../step-kind.ts';
import { writeFile } from '../../../system/write-file.ts';
import { hasOwner, createParents, ownerOf } from './file.ts';

const ACCESS = { mode: 0o640, group: agentUser };

/** The proxy does not verify it, so it need not be renewed in the life of a machine. */
const SELF_SIGNED_DAYS = 3650;

const MIN_LEFT_MS = 30 * 86_400_000;

interface Pair {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

export const ownCertificate: StepKind<OwnCertificateStep> = {
  describe: ({ source }) =>
    source.kind === 'files'
      ? `Install the certificate ${source.certificate} for the agent`
      : "Create the agent's own certificate",
  findSubject: () => ({}),

  async isSatisfied({ domain, source }, context) {
    const present = readPair(context, paths.certificate, paths.certificateKey);
    if (present === null || !areOwned(context)) return false;
    if (source.kind === 'self-signed') return isSelfSigned(present, domain, context);
    const given = readPair(context, source.certificate, source.key);
    return given !== null && isEqual(present, given);
  },

  async capture(_subject, context) {
    return capturePaths(context, [paths.certificate, paths.certificateKey]);
  },

  async apply({ domain, source }, context) {
    const pair =
      source.kind === 'files'
        ? readGiven(context, source)
        : await createSelfSigned(domain, context);
    createParents(context, paths.certificate);
    const owner = ownerOf(ACCESS, context);
    writeFile(locate(context, paths.certificateKey), pair.key, owner);
    writeFile(locate(context, paths.certificate), pair.certificate, owner);
    context.changed.add(paths.certificate);
    return {};
  },

  // The current file may be a copy that a renewal replaced.
  async undo({ before }, context) {
    for (const state of before.paths) restore(context, state);
  },
};

function readPair(machine: Machine, certificatePath: string, keyPath: string): Pair | null {
  const [certificate, key] = [locate(machine, certificatePath), locate(machine, keyPath)];
  if (!existsSync(certificate) || !existsSync(key)) return null;
  return { certificate: readFileSync(certificate), key: readFileSync(key) };
}

function isEqual(one: Pair, other: Pair): boolean {
  return one.certificate.equals(other.certificate) && one.key.equals(other.key);
}

function areOwned(context: StepContext): boolean {
  return [paths.certificate, paths.certificateKey].every((path) =>
    hasOwner(locate(context, path), ACCESS, context),
  );
}

/** Whether a pair matches, is self-signed, names the domain, and is valid for a month. */
function isSelfSigned({ certificate, key }: Pair, domain: string, context: StepContext): boolean {
  try {
    const parsed = new X509Certificate(certificate);
    const leftMs = parsed.validToDate.getTime() - context.services.now().getTime();
    return (
      leftMs > MIN_LEFT_MS &&
      parsed.checkPrivateKey(createPrivateKey(key)) &&
      parsed.issuer === parsed.subject &&
      parsed.checkHost(domain) !== undefined
    );
  } catch {
    // An unreadable pair is replaced.
    return false;
  }
}

function readGiven(
  machine: Machine,
  given: { readonly certificate: string; readonly key: string },
): Pair {
  const pair = readPair(machine, given.certificate, given.key);
  if (pair === null) throw new Error(`${given.certificate} or ${given.key} does not exist.`);
  if (!new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key))) {
    throw new Error(`${given.key} is not the key of ${given.certificate}.`);
  }
  return pair;
}

async function createSelfSigned(domain: string, machine: Machine): Promise<Pair> {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-agent-'));
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')];
  try {
    const type = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    // A common name has at most 64 characters, and domains may have more.
    const names = ['-subj', '/CN=latchkey-agent', '-addext', `subjectAltName=DNS:${domain}`];
    const files = ['-keyout', key, '-out', certificate];
    const days = ['-days', `${SELF_SIGNED_DAYS}`];
    const command = ['openssl', 'req', '-batch', ...type, ...days, ...names, ...files];
    await mustRun(machine, "The agent's own certificate could not be created:", command);
    return { certificate: readFileSync(certificate), key: readFileSync(key) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
