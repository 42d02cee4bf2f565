/**
 * How the reverse proxy identifies itself and its client to the agent: names that the authority, the agent and the proxy's
 * configuration share.
 */

/** The common name of the proxy's own certificate. Client names have no spaces, so no client can have it. */
export const PROXY_NAME = 'Latchkey proxy';

/** The client's certificate: PEM (URL-encoded, or with spaces as line ends) or DER in base64. Set on every request. */
export const CLIENT_CERTIFICATE_HEADER = 'X-SSL-Client-Cert';

/** The client's address. Set on every request. */
export const CLIENT_ADDRESS_HEADER = 'X-Real-IP';
