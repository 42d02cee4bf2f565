/** The server has no TLS, and `sslmode` requires it. */
export class TlsUnsupportedError extends Error {
  constructor() {
    super('the server does not support TLS');
  }
}

/** The server authenticates without binding to its certificate, and `channel_binding` requires it. */
export class ChannelBindingError extends Error {
  constructor() {
    super('the server does not authenticate with channel binding');
  }
}
