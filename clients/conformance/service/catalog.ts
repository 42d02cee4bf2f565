/** The products of the scenes; `studio` has a trial and entitlements for machines without a connection. */
export const CATALOG = `key_prefix: LK
trial: { product: studio, features: [history] }
products:
  - id: studio
    name: Studio
    tier: personal
    features: [history, gpu]
    max_activations: 2
    offline_days: 14
    airgap_days: 90
  - id: solo
    name: Solo
    tier: solo
    features: [history]
    max_activations: 1
    offline_days: 30
    moves: { extra: 1, days: 30 }
  - id: server
    name: Server
    tier: server
    features: [basic]
    max_activations: 1
    offline_days: 14
`;

/** The products that clients accept; the third one of the catalogue is another program's. */
export const CLIENT_PRODUCTS = ['studio', 'solo'];

/** The public URL of the service, which is not the address at which the clients reach it. */
export const ISSUER = 'https://license.example.com';
