/** The cipher suites of TLS 1.2 that have forward secrecy and authenticated encryption (AEAD), in the order of preference. */
export const TLS_1_2_CIPHER_SUITES: readonly string[] = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/**
 * The cipher suites of the agent's listener, in the order of preference: forward secrecy and authenticated encryption (AEAD)
 * only. Node.js by default offers CBC suites to TLS 1.2 clients, too. Source: Mozilla's "intermediate" recommendation without
 * its finite-field DHE suites.
 */
export const CIPHER_SUITES = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  ...TLS_1_2_CIPHER_SUITES,
].join(':');
