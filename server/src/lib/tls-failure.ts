import { codeOf, isRecord } from './unknown-values.ts';

/** Why a connection with TLS failed. */
export interface TlsFailure {
  readonly kind:
    | 'self_signed'
    | 'unknown_authority'
    | 'host_name'
    | 'expired'
    | 'not_yet_valid'
    | 'revoked'
    | 'client_certificate'
    | 'protocol';
  /** A predicate of the server, such as "has a self-signed certificate". */
  readonly problem: string;
}

/** Codes of OpenSSL (X509_V_ERR_…) and of Node.js. */
const KINDS: Readonly<Record<string, TlsFailure['kind']>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown_authority',
  UNABLE_TO_GET_ISSUER_CERT: 'unknown_authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknown_authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown_authority',
  CERT_SIGNATURE_FAILURE: 'unknown_authority',
  CERT_UNTRUSTED: 'unknown_authority',
  INVALID_CA: 'unknown_authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'host_name',
  HOSTNAME_MISMATCH: 'host_name',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not_yet_valid',
  CERT_REVOKED: 'revoked',
};

const PROBLEMS: Readonly<Record<TlsFailure['kind'], string>> = {
  self_signed: 'has a self-signed certificate',
  unknown_authority: 'has a certificate of an authority that is not trusted here',
  host_name: 'has a certificate for another host name',
  expired: 'has a certificate that has expired',
  not_yet_valid: 'has a certificate that is not valid yet',
  revoked: 'has a revoked certificate',
  client_certificate: 'rejects the certificate of the client, or its absence',
  protocol: 'does not complete the TLS handshake',
};

/** Alerts of TLS about the certificate of the client (RFC 8446 §6.2), as OpenSSL names them. */
const CLIENT_ALERT =
  /ALERT_(?:CERTIFICATE_REQUIRED|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|CERTIFICATE_REVOKED|UNKNOWN_CA|UNSUPPORTED_CERTIFICATE)/u;

/** Explains an error of a connection with TLS; returns null for an error of another kind. */
export function explainTlsFailure(error: unknown): TlsFailure | null {
  // nodemailer has the code of Node.js in another place.
  const original = isRecord(error) ? error['originalCode'] : undefined;
  const code = typeof original === 'string' ? original : (codeOf(error) ?? '');
  const kind = KINDS[code] ?? findProtocolKind(code);
  if (kind === null) return null;
  return { kind, problem: kind === 'host_name' ? describeNames(error) : PROBLEMS[kind] };
}

function findProtocolKind(code: string): TlsFailure['kind'] | null {
  if (CLIENT_ALERT.test(code)) return 'client_certificate';
  return code === 'EPROTO' || /^ERR_(?:SSL|TLS)_/u.test(code) ? 'protocol' : null;
}

/** Names those in the certificate, as Node.js reports them: "DNS:db.example.com, IP Address:10.0.0.1". */
function describeNames(error: unknown): string {
  const certificate = error instanceof Error ? Reflect.get(error, 'cert') : null;
  const names: unknown = isRecord(certificate) ? certificate['subjectaltname'] : null;
  if (typeof names !== 'string' || names === '') return PROBLEMS.host_name;
  const shown = names.replaceAll(/(?:DNS|IP Address):/gu, '').slice(0, 200);
  return `has a certificate for other host names (${shown})`;
}
