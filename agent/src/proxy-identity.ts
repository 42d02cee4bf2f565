/**
 * How the reverse proxy, its client and the agent identify themselves to each other: names that the authority, the agent, the
 * proxy's configuration and the doctor share.
 */

/** The common name of the proxy's own certificate. Client names have no spaces, so no client can have it. */
export const PROXY_NAME = 'Latchkey proxy';

/** The client's certificate: PEM (URL-encoded, or with spaces as line ends) or DER in base64. Set on every request. */
export const CLIENT_CERTIFICATE_HEADER = 'X-SSL-Client-Cert';

/** The client's address. Set on every request. */
export const CLIENT_ADDRESS_HEADER = 'X-Real-IP';

/** Marks a refusal of the agent itself: a proxy in front may refuse with the same status. */
export const REFUSED_BY_HEADER = 'X-Refused-By';
export const REFUSED_BY_AGENT = 'latchkey-agent';
